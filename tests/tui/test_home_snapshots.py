"""What Home and the matchup look like, at the two sizes that are promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.past import Past, PastComparisons
from textual.pilot import Pilot

from .conftest import Driver, make_app, make_workspace
from .test_home import add_tasks, make_home, ready, score
from .test_matchup_screen import SCORED

SIZES = [(80, 24), (160, 45)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_home_looks_as_it_did(
    snap_compare: Any, workspace: Workspace, tmp_path: Path, size: tuple[int, int]
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    add_tasks(three, ["flash_attention", "flash_attention_bwd", "beam_search"], ("alpha", "gamma"))
    score(three, "alpha", 92)
    score(three, "beta", None)
    score(three, "gamma", 71)
    score(three, "alpha", 80, "beam_search")
    (three.root / "submissions" / "gamma" / "kv" / "kv_cache.py").write_text("x = 2\n")
    places = {"alpha": ("kv_cache.py", 11), "beta": ("helpers.py", 0)}
    PastComparisons(three.root, "anna").keep(Past("kv", ("alpha", "beta"), 1.0, places, "alpha"))
    app = make_home(three)

    async def play(pilot: Pilot[int]) -> None:
        driver = Driver(app, pilot)
        await ready(driver)
        await driver.press("G", "end", "space")
        assert app._exception is None

    assert snap_compare(app, run_before=play, terminal_size=size)
    app.close_session()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_the_matchup_looks_as_it_did(snap_compare: Any, workspace: Workspace, size: tuple[int, int]) -> None:
    app = make_app(workspace)

    async def play(pilot: Pilot[int]) -> None:
        driver = Driver(app, pilot)
        await driver.settle()
        await driver.press(*SCORED, "M", "space", "j", "j", "j", "space", "G")
        assert app._exception is None
        app.clear_notifications()
        session = driver.compare.session
        await driver.until(lambda: not session.unsaved() and "saved 12:00:00" in driver.text())

    assert snap_compare(app, run_before=play, terminal_size=size)
    app.close_session()
