"""What Home opens, by keys and by the mouse, and what it knows of a comparison that was left."""

from __future__ import annotations

import shutil
from pathlib import Path

from msgspec.structs import replace

from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.past import PastComparisons

from .at_home import add_tasks, make_home, opened, ready
from .conftest import ENGINE, make_workspace, running


async def test_the_next_pair_is_judged_by_one_key_and_home_knows_it_afterwards(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        assert "not scored" in app.text()
        await app.press("n")
        assert await opened(app) == ("alpha", "beta")
        await app.press("s", "c", "9", "5", "t", "9", "1", "w", "c", "7", "5", "t", "7", "5", "q")
        await app.until(lambda: app.app.screen is app.app.home)
        screen = await ready(app)
        assert "94 A" in app.text()
        assert "2 of 2 judged" in app.text()
        [pair] = screen.board.queue
        assert pair.reason == "no matchup"
        await app.press("n")
        await opened(app)
        await app.press("M", "A", "escape", "q")
        await app.until(lambda: app.app.screen is app.app.home)
        await ready(app)
        assert screen.board.queue == ()
        assert "Everything is judged." in app.text()
        await app.press("n")
        assert app.app.screen is screen
        await app.press("q")
        await app.until(lambda: app.app._exit)
    assert load_scorecard(workspace.scorecard_path("kv", "alpha", "anna")).score("correctness") == 95


async def test_marked_submissions_are_compared_and_of_one_task_only(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma", "omega"))
    add_tasks(three, ["fuse"])
    async with running(make_home(three)) as app:
        screen = await ready(app)
        assert screen.board.tasks == ("fuse", "kv")
        await app.press("space")
        assert screen.board.marked == [("alpha", "fuse")]
        await app.press("l", "space", "j", "j", "space")
        assert screen.board.marked == [("alpha", "kv"), ("gamma", "kv")]
        assert app.text().count("●") == 2
        await app.press("space", "space", "j", "space", "k", "k", "space")
        assert len(screen.board.marked) == 3
        assert any("3 are marked already" in told.message for told in app.app._notifications)
        await app.press("enter")
        assert await opened(app) == ("alpha", "gamma", "omega")
        await app.press("q")
        await app.until(lambda: app.app.screen is screen)
        # the next comparison is not the same once more
        assert screen.board.marked == []
        await app.press("space")
        assert screen.board.marked != []
        await app.press("escape")
        assert screen.board.marked == []


async def test_a_comparison_is_resumed_where_it_was_left(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        await app.press("B", "full_stop", "A", "j", "j", "j", "B", "j")
        before = [(pane.file, pane.view.cursor) for pane in app.compare.panes]
        await app.press("q")
        await app.until(lambda: app.app.screen is app.app.home)
        await ready(app)
        assert "Alpha · Beta" in app.text().split("Compared before")[1]
        assert f"{before[1][0]}:{before[1][1] + 1} 12:00:00" in app.text()
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        for part in (screen.queue.rows, screen.past.rows, screen.matrix):
            await app.press("tab")
            assert app.app.focused is part
        await app.press("shift+tab", "enter")
        assert await opened(app) == ("alpha", "beta")
        await app.until(lambda: app.compare.panes[1].view.cursor == before[1][1])
        assert [(pane.file, pane.view.cursor) for pane in app.compare.panes] == before
        assert app.app.focused is app.compare.panes[1].view


async def test_the_checks_of_a_comparison_from_home_run_and_end_with_it(workspace: Workspace) -> None:
    async with running(make_home(workspace, ENGINE)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        await app.settle()
        assert "✗ 1 fail" in app.text()
        runner = app.compare.runner
        await app.press("q")
        await app.until(lambda: app.app.screen is app.app.home)
        assert not runner.active


async def test_the_mouse_points_and_opens(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        await app.pilot.click(screen.matrix, offset=(16, 2))
        assert screen.matrix.cell == ("beta", "kv")
        await app.pilot.click(screen.matrix, offset=(16, 2), times=2)
        assert await opened(app) == ("alpha", "beta")


async def test_a_comparison_was_left_when_it_was_left_and_a_matchup_counts_as_much_as_a_score(
    workspace: Workspace,
) -> None:
    past = PastComparisons(workspace.root, "anna")

    def kept() -> float:
        found = past.find("kv", ("alpha", "beta"))
        return found.at if found else 0.0

    async def long_ago() -> None:
        """The place is written down, and nothing is left to be written."""
        await app.app._look()
        await app.app._look()
        [found] = past.read()
        past.keep(replace(found, at=1.0))
        await app.app._look()
        assert kept() == 1.0

    async with running(make_home(workspace)) as app:
        await ready(app)
        await app.press("enter")
        await opened(app)
        for keys in (("M", "A"), ("escape", "s", "c", "8")):
            await long_ago()
            await app.press(*keys)
            await app.until(lambda: app.app._last_past is None or kept() > 1.0)
            await app.app._look()
            assert kept() > 1.0, keys
        await long_ago()
        await app.press("escape", "q")
        await app.until(lambda: app.app.screen is app.app.home)
        assert kept() > 1.0


async def test_an_answer_that_stands_alone_is_left_and_not_judged(workspace: Workspace) -> None:
    folder = workspace.root / "submissions" / "alpha" / "chess"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text("def move():\n    return 1\n")
    for model in ("alpha", "beta"):
        shutil.rmtree(workspace.root / "submissions" / model / "kv")
    async with running(make_home(workspace), size=(140, 30)) as app:
        await ready(app)
        assert "Alone, and not scored: alpha · chess." in app.text()
