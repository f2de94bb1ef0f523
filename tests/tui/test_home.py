"""Home by keys: what it shows, what it opens, what it says when there is nothing to show."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.scorecard import load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.engine.check_runner import EngineOptions
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.screens.compare import CompareScreen
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.screens.home import HomeScreen
from judge_tui.tui.widgets.matrix import cell_spans

from .conftest import ENGINE, RUBRIC, Driver, make_workspace, running

THREE = ("alpha", "beta", "gamma")


def make_home(workspace: Workspace, engine: str | None = None) -> JudgeApp:
    command = None if engine is None else (sys.executable, "-c", engine.replace("END", ""))
    return JudgeApp(workspace, (), "anna", EngineOptions(command=command), clock=lambda _: "12:00:00")


def home(app: Driver) -> HomeScreen:
    assert app.app.home is not None
    return app.app.home


async def ready(app: Driver) -> HomeScreen:
    """Home, with everything read."""
    await app.until(lambda: app.app.home is not None and home(app).settled)
    return home(app)


async def opened(app: Driver) -> tuple[str, ...]:
    """The models of the comparison that is open."""
    await app.until(lambda: isinstance(app.app.screen, CompareScreen) and app.compare.is_mounted)
    return tuple(submission.model for submission in app.compare.session.submissions)


def score(workspace: Workspace, model: str, points: int | None, task: str = "kv") -> None:
    card, stamp = workspace.scorecard(task, model, "anna")
    rubric = workspace.rubric(task)
    for dimension in rubric.dimensions[: 1 if points is None else None]:
        card = card.with_score(dimension.id, 50 if points is None else points)
    card = card.judged_under(rubric, workspace.submission(model, task).digest)
    save_scorecard(workspace.scorecard_path(task, model, "anna"), card, stamp)


def add_tasks(workspace: Workspace, tasks: list[str], models: tuple[str, ...] = ("alpha", "beta")) -> None:
    for task in tasks:
        (workspace.root / "rubrics" / f"{task}.toml").write_text(RUBRIC.replace('"kv"', f'"{task}"'))
        for model in models:
            shutil.copytree(
                workspace.root / "submissions" / model / "kv", workspace.root / "submissions" / model / task
            )


async def test_scores_progress_checks_and_what_is_stale_are_in_view(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    score(three, "alpha", 92)
    score(three, "beta", None)
    score(three, "gamma", 70)
    (three.root / "submissions" / "gamma" / "kv" / "kv_cache.py").write_text("x = 2\n")
    submission = three.submission("alpha", "kv")
    found = [("size", "pass"), ("loads", "pass"), ("accuracy", "fail")]
    store = Store()
    store.keep(
        [Outcome("alpha", "kv", check, Verdict(verdict), "said", 0.1) for check, verdict in found],
        store.key(submission, "cpu", "NumPy"),
    )
    store.chose("kv", "auto", "cpu", ["NumPy"])
    async with running(make_home(three)) as app:
        await ready(app)
        lines = app.text().split("\n")
        alpha, beta, gamma = (
            next(line for line in lines if f" {name} " in line) for name in ("Alpha", "Beta", "Gamma")
        )
        assert "92 A" in alpha
        assert "✗1 ✓2" in alpha
        assert "1/2" in beta
        assert "70 B ~" in gamma
        assert "2 of 3 judged" in lines[0]
        assert "1 stale" in lines[0]
        assert "reconstruction" in lines[0]
        text = app.text()
        assert "Alpha › kv  ✗ 1 fail  ✓ 2 pass" in text
        assert "92 points, A · 2 of 2 dimensions scored" in text
        await app.press("j")
        assert "1 of 2 dimensions scored, mean 50" in app.text()
        await app.press("j")
        assert "~ files changed since they were scored" in app.text()


def store_verdicts(workspace: Workspace, model: str, verdicts: list[Verdict]) -> None:
    store = Store()
    outcomes = [Outcome(model, "kv", f"check_{n}", verdict, "", 0.1) for n, verdict in enumerate(verdicts)]
    store.keep(outcomes, store.key(workspace.submission(model, "kv"), "cpu", "NumPy"))
    store.chose("kv", "auto", "cpu", ["NumPy"])


async def test_a_cell_counts_warnings_too_and_where_room_is_short_the_worst_and_the_passes_stay(
    workspace: Workspace,
) -> None:
    store_verdicts(workspace, "alpha", [Verdict.FAIL, Verdict.WARN, Verdict.SKIP, *(Verdict.PASS,) * 11])
    store_verdicts(workspace, "beta", [Verdict.WARN, Verdict.PASS])
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        alpha, beta = app.text().split("\n")[2:4]
        assert "✗1 !1 –1 ✓11" in alpha
        assert "!1 ✓1" in beta

        said, tones = screen.board.standings["alpha", "kv"], tones_of(app.app)
        for room, shown in ((12, " ✗1 !1 ✓11"), (9, " ✗1 ✓11"), (5, " ✗1"), (3, " ✗1"), (2, " ✗")):
            drawn = "".join(text for text, _ in cell_spans(said, 8 + room, tones))
            assert drawn[8:].rstrip() == shown


async def test_verdicts_of_a_cell_judged_blind_are_told_once_the_names_are_revealed(
    workspace: Workspace,
) -> None:
    submissions = [workspace.submission(model, "kv") for model in ("alpha", "beta")]
    async with running(JudgeApp(workspace, submissions, "anna", blind=True)) as app:
        await app.press("s", "c", "8")
    for model in ("alpha", "beta"):
        store_verdicts(workspace, model, [Verdict.PASS])
    async with running(make_home(workspace)) as app:
        await ready(app)
        assert "Alpha › kv  verdicts are told once the names are revealed" in app.text()
        assert "scores are told once the names are revealed" in app.text()
        assert "✓" not in app.text()


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
        await app.press("M", "1", "escape", "q")
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
        await app.press("2", "full_stop", "1", "j", "j", "j", "2", "j")
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


async def test_nothing_to_judge_says_how_to_begin(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "empty" / "submissions").mkdir(parents=True)
    (tmp_path / "empty" / "scores").mkdir()
    async with running(make_home(Workspace.find(explicit=tmp_path / "empty")), (80, 24)) as app:
        await ready(app)
        assert "No submissions yet." in app.text()
        assert "judge-tui add FOLDER" in app.text()
        await app.press("enter", "space", "n", "j", "tab", "enter", "r")
        assert app.app.screen is app.app.home


async def test_a_cell_without_a_submission_opens_nothing(workspace: Workspace) -> None:
    add_tasks(workspace, ["fuse"], ("alpha",))
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        await app.press("j", "space", "enter")
        assert app.app.screen is screen
        assert screen.board.marked == []
        assert any("no submission here" in told.message for told in app.app._notifications)


async def test_many_tasks_scroll_sideways_at_80_columns(workspace: Workspace) -> None:
    tasks = [f"task_of_some_length_{number:02}" for number in range(12)]
    add_tasks(workspace, tasks)
    async with running(make_home(workspace), (80, 24)) as app:
        screen = await ready(app)
        head = app.text().split("\n")[1]
        assert head.rstrip().endswith("›")
        assert "h_11" not in head
        assert "kv" in head
        await app.press("dollar_sign")
        head = app.text().split("\n")[1]
        assert "‹" in head
        assert head.rstrip().endswith("11")
        assert screen.matrix.cell == ("alpha", "task_of_some_length_11")
        await app.press("0")
        assert "‹" not in app.text().split("\n")[1]


async def test_at_80_columns_the_lists_take_turns_and_names_stand_in_full(workspace: Workspace) -> None:
    PastComparisons(workspace.root, "anna").keep(Past("kv", ("alpha", "beta"), 1.0))
    async with running(make_home(workspace), (80, 24)) as app:
        screen = await ready(app)
        await app.until(lambda: "tab: compared before 1" in app.text())
        assert (screen.queue.display, screen.past.display) == (True, False)
        await app.press("tab", "tab")
        assert app.app.focused is screen.past.rows
        assert (screen.queue.display, screen.past.display) == (False, True)
        assert "Alpha · Beta" in app.text()
        await app.press("tab")
        assert "Next to judge" in app.text()


async def test_many_models_scroll_and_say_how_many_there_are(tmp_path: Path, workspace: Workspace) -> None:
    many = make_workspace(tmp_path / "many", tuple(f"model-{number:02}" for number in range(40)))
    async with running(make_home(many), (80, 24)) as app:
        screen = await ready(app)
        assert "of 40" in app.text()
        assert "Next to judge" in app.text()
        await app.press("G")
        assert "Model-39" in app.text()
        assert screen.matrix.cell == ("model-39", "kv")
        await app.press("pageup", "g")
        assert screen.matrix.cell == ("model-00", "kv")


async def test_keys_are_taken_while_hundreds_of_submissions_are_read(
    tmp_path: Path, workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = make_workspace(tmp_path / "many", tuple(f"model-{number:03}" for number in range(200)))
    from judge_tui.tui import home_board

    slow = home_board.standing

    def slowly(*given: object) -> object:
        time.sleep(0.05)
        return slow(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(home_board, "standing", slowly)
    async with running(make_home(many)) as app:
        await app.until(lambda: home(app).board.models)
        assert not home(app).settled
        await app.press("j", "j")
        assert home(app).matrix.cell == ("model-002", "kv")
        assert "reading " in app.text().split("\n")[0]
        assert 0 < len(home(app).board.standings) < 200
        await app.press("q")
        await app.until(lambda: app.app._exit)


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


async def test_the_mouse_points_and_opens(workspace: Workspace) -> None:
    async with running(make_home(workspace)) as app:
        screen = await ready(app)
        await app.pilot.click(screen.matrix, offset=(16, 2))
        assert screen.matrix.cell == ("beta", "kv")
        await app.pilot.click(screen.matrix, offset=(16, 2), times=2)
        assert await opened(app) == ("alpha", "beta")


async def test_help_and_palette_have_the_keys_of_home(workspace: Workspace) -> None:
    app_ = make_home(workspace)
    async with running(app_, (100, 60)) as app:
        await ready(app)
        titles = {command.title for command in app_.get_system_commands(app_.screen)}
        assert {"Mark", "Next to judge", "Read again"} <= titles
        await app.press("question_mark")
        assert isinstance(app.app.screen, HelpScreen)
        assert "read again" in app.text()
        await app.press("escape")
        assert app.app.screen is app.app.home


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
        for keys in (("M", "1"), ("escape", "s", "c", "8")):
            await long_ago()
            await app.press(*keys)
            await app.until(lambda: app.app._last_past is None or kept() > 1.0)
            await app.app._look()
            assert kept() > 1.0, keys
        await long_ago()
        await app.press("escape", "q")
        await app.until(lambda: app.app.screen is app.app.home)
        assert kept() > 1.0
