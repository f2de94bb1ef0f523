"""Home where files are off, missing, or cannot be read or written: it says so, and the rest works."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.past import PastComparisons

from .at_home import add_tasks, make_home, opened, ready, score
from .conftest import THREE, make_workspace, running


async def test_a_scorecard_that_is_off_is_a_sentence_and_its_comparison_does_not_open(
    workspace: Workspace,
) -> None:
    path = workspace.scorecard_path("kv", "beta", "anna")
    path.parent.mkdir(parents=True)
    path.write_text("task = [")
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        await app.press("j")
        assert "anna.toml:1: is not valid TOML" in app.text()
        assert "! see below" in app.text()
        await app.press("enter")
        assert app.app.screen is screen
        assert any("is not valid TOML" in told.message for told in app.app._notifications)
        path.unlink()
        await app.press("r")
        await app.until(lambda: screen.settled and "! see below" not in app.text())
        await app.press("enter")
        assert await opened(app) == ("alpha", "beta")


async def test_a_matchup_file_that_is_off_is_told_at_its_task(workspace: Workspace) -> None:
    path = workspace.matchups_path("kv", "anna")
    path.parent.mkdir(parents=True)
    path.write_text("by hand =")
    for model in ("alpha", "beta"):
        score(workspace, model, 80)
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        assert screen.board.queue == ()
        assert "anna.toml:1: is not valid TOML" in app.text()
        assert "80 B" in app.text()


async def test_a_cell_without_a_submission_opens_nothing(workspace: Workspace) -> None:
    add_tasks(workspace, ["fuse"], ("alpha",))
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        await app.press("j", "space", "enter")
        assert app.app.screen is screen
        assert screen.board.marked == []
        assert any("no submission here" in told.message for told in app.app._notifications)


async def test_a_folder_that_cannot_be_written_is_looked_at_and_left_alone(workspace: Workspace) -> None:
    state = PastComparisons(workspace.root, "anna")
    (workspace.root / "scores" / "kv").write_text("in the way")
    before = sorted(str(path) for path in workspace.root.rglob("*"))
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("j", "space", "r", "q")
    assert sorted(str(path) for path in workspace.root.rglob("*")) == before
    assert state.read() == ()


async def test_what_could_not_be_saved_is_said_when_the_comparison_is_left(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        (workspace.root / "scores" / "kv").write_text("in the way")
        await app.press("s", "c", "8", "5", "q")
        await app.until(lambda: app.app.screen is app.app.home)
        assert "The next start brings it back." in app.app.unsaved[0]
        (workspace.root / "scores" / "kv").unlink()
        await app.press("r")
        await ready(app)
        await app.press("enter")
        await opened(app)
        assert app.compare.session.card.score("correctness") == 85


async def test_a_model_whose_folder_cannot_be_read_says_so_in_its_row_and_the_rest_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    real = Workspace.submitted

    def submitted(workspace: Workspace, model: str) -> tuple[str, ...]:
        if model == "beta":
            raise WorkspaceError("cannot be read: Permission denied.", file=workspace.submissions / model)
        return real(workspace, model)

    monkeypatch.setattr(Workspace, "submitted", submitted)
    async with running(make_home(three)) as app:
        await ready(app)
        row = next(line for line in app.text().split("\n") if "beta" in line)
        assert "! see below" in row
        await app.press("j")
        assert "beta: cannot be read: Permission denied." in app.text()
        await app.press("enter")
        assert any("There is no submission here." in told.message for told in app.app._notifications)
        await app.press("n")
        assert await opened(app) == ("alpha", "gamma")
