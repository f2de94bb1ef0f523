"""What a task asks for, on the screen: built-in tasks and the workspace's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.statement import StatementScreen

from .at_home import make_home, ready
from .conftest import make_app, running


async def test_a_comparison_shows_what_was_asked_for_and_comes_back(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        before = app.app.screen
        await app.press("I")
        await app.until(lambda: "What it asks for" in app.text())
        assert isinstance(app.app.screen, StatementScreen)
        assert "cache" in app.text().lower()
        await app.press("q")
        await app.until(lambda: app.app.screen is before)


@pytest.mark.parametrize("size", [(40, 12), (160, 45)])
async def test_home_shows_the_text_of_a_challenge_of_its_own(
    workspace: Workspace, size: tuple[int, int]
) -> None:
    folder = workspace.root / "challenges" / "aaa"
    folder.mkdir(parents=True)
    (folder / "challenge.md").write_text(
        "# Shoe lacing\n\nTie \x1b[31mboth $n_i^2$.\n\n```\n    knots(two)\n```\n"
    )
    add_answer(workspace, "aaa")
    async with running(make_home(workspace), size=size) as app:
        await ready(app)
        app.app.screen.query_one("Matrix").point(("alpha", "aaa"))  # type: ignore[attr-defined]
        await app.press("I")
        await app.until(lambda: "knots(two)" in app.text())
        assert "\x1b" not in app.text()
        assert "both nᵢ²." in app.text()
        assert "Shoe lacing" in app.text()


async def test_a_task_that_nobody_wrote_about_says_where_to(workspace: Workspace) -> None:
    add_answer(workspace, "aaa")
    async with running(make_home(workspace), size=(120, 30)) as app:
        await ready(app)
        app.app.screen.query_one("Matrix").point(("alpha", "aaa"))  # type: ignore[attr-defined]
        await app.press("I")
        await app.until(lambda: "Nothing is written of it" in app.text())
        assert "challenge.md" in "".join(app.text().split())


def add_answer(workspace: Workspace, task: str) -> Path:
    folder = workspace.root / "submissions" / "alpha" / task
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("def solve():\n    return 1\n")
    return folder
