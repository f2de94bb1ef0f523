"""What the comparison looks like, at the two sizes that are promised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from judge_tui.judging.workspace import Workspace
from textual.pilot import Pilot
from textual.widgets import TextArea

from .conftest import Driver, make_app, make_workspace

SIZES = [(80, 24), (160, 45)]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("state", ["start", "scoring", "evidence", "note"])
def test_the_comparison_looks_as_it_did(
    snap_compare: Any, workspace: Workspace, size: tuple[int, int], state: str
) -> None:
    keys = {
        "start": (),
        "scoring": ("2", "s", "9", "0"),
        "evidence": ("c", "enter"),
        "note": (*"jjjjj", "v", "j", "a", "w", *"vague"),
    }[state]
    app = make_app(workspace)

    async def play(pilot: Pilot[int]) -> None:
        driver = Driver(app, pilot)
        await driver.settle()
        await driver.press(*keys)
        # a screen that shows a traceback is no picture to keep
        assert app._exception is None
        app.clear_notifications()
        for area in app.screen.query(TextArea):
            # a cursor that blinks is there in some pictures only
            area.cursor_blink = False
        session = driver.compare.session
        await driver.until(
            lambda: (
                not session.unsaved()
                and driver.compare._saved.startswith("saved" if state in ("scoring", "note") else "")
            )
        )

    assert snap_compare(app, run_before=play, terminal_size=size)
    app.close_session()


def test_three_submissions_look_as_they_did(snap_compare: Any, workspace: Workspace, tmp_path: Path) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    app = make_app(three, ("alpha", "beta", "gamma"))

    async def play(pilot: Pilot[int]) -> None:
        await Driver(app, pilot).settle()

    assert snap_compare(app, run_before=play, terminal_size=(160, 45))
    app.close_session()
