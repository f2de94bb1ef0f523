"""The scores of a task as bars: order, attempts, other judges, and what names that are hidden keep back."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.look.bars import plain_characters
from judge_tui.tui.score_tracks import Track, scale

from .at_home import add_tasks, home, make_home, ready, score
from .conftest import THREE, Driver, make_workspace, running
from .test_home_table import score_as


@pytest.fixture(autouse=True)
def usual(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TERM", "xterm-256color")
    plain_characters.cache_clear()
    yield
    plain_characters.cache_clear()


def line_of(app: Driver, name: str) -> str:
    return next(line for line in app.text().split("\n") if line.startswith(f" {name} "))


async def test_bars_stand_in_order_with_attempts_and_other_judges_and_lead_to_their_cells(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    add_tasks(three, ["fuse"], THREE)
    shutil.copytree(three.root / "submissions/beta/kv", three.root / "submissions/beta/kv@2")
    (three.root / "submissions/beta/kv@2/more.py").write_text("x = 1\n")
    score(three, "alpha", 40)
    score(three, "beta", 70)
    score(three, "beta@2", 90)
    score_as(three, "bert", "beta", 20)
    async with running(make_home(three), (100, 24)) as app:
        await ready(app)
        await app.press("G", "l", "v")
        lines = app.text().split("\n")
        assert "Scores of kv" in lines[0]
        assert [line.split()[0] for line in lines[1:4]] == ["Beta", "Alpha", "Gamma"]
        beta = line_of(app, "Beta")
        assert "80 ± 14.1 (n = 2)" in beta
        assert (beta.count("●"), beta.count("◇")) == (2, 1)
        assert beta.index("◇") < beta.index("●")
        assert "not scored" in line_of(app, "Gamma")
        assert "● an attempt" in app.text()
        await app.press("h")
        assert "Scores of fuse" in app.text().split("\n")[0]
        await app.press("l", "j", "enter")
        assert app.app.screen is app.app.home
        assert home(app).matrix.cell == ("alpha", "kv")


async def test_what_is_judged_blind_has_no_bar(tmp_path: Path, workspace: Workspace) -> None:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", blind=True)) as app:
        await app.press("s", "c", "8", "8", "t", "8", "8", "w", "c", "3", "3", "t", "3", "3")
    async with running(make_home(workspace), (100, 24)) as app:
        await ready(app)
        await app.press("v")
        assert line_of(app, "Alpha").split() == ["Alpha", "blind"]
        assert "━" not in line_of(app, "Beta")
        assert "88" not in app.text()


@given(st.lists(st.floats(0, 100), max_size=4), st.none() | st.floats(0, 100), st.integers(10, 120))
def test_a_line_is_as_wide_as_it_may_be(points: list[float], others: float | None, width: int) -> None:
    assert len(Track("a", tuple(points), others).drawn(width)) == width
    assert len(scale(width)) <= width
    assert scale(width).endswith("100")
