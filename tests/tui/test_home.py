"""Home by keys: what it shows, and what it says when there is nothing to show."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from judge_tui.checks.store import Store
from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.app import JudgeApp
from judge_tui.tui.look.tones import tones_of
from judge_tui.tui.past import Past, PastComparisons
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.widgets.matrix_cells import cell_spans

from .at_home import add_tasks, home, make_home, ready, score
from .conftest import THREE, make_workspace, running


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


@pytest.mark.parametrize("size", [(80, 24), (160, 45)])
async def test_what_is_next_says_what_is_open_of_it(
    tmp_path: Path, workspace: Workspace, size: tuple[int, int]
) -> None:
    three = make_workspace(tmp_path / "three", THREE)
    add_tasks(three, ["beam", "fuse"])
    score(three, "alpha", None)
    score(three, "beta", None)
    score(three, "gamma", 90)
    score(three, "alpha", 90, "beam")
    async with running(make_home(three), size) as app:
        await ready(app)
        # what each list row says, whatever stands around it
        rows = " ".join(app.text().split())
        assert "beam Alpha · Beta Beta not scored" in rows
        assert "fuse Alpha · Beta not scored" in rows
        assert "kv Alpha · Beta begun" in rows


async def test_where_names_leave_no_room_what_is_next_says_that_one_of_them_is_open(
    tmp_path: Path, workspace: Workspace
) -> None:
    names = ("a-model-of-a-long-name", "and-another-of-such-a-name")
    two = make_workspace(tmp_path / "two", names)
    score(two, names[0], 90)
    score(two, names[1], None)
    async with running(make_home(two), (80, 24)) as app:
        await ready(app)
        assert " one begun" in app.text()


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


async def test_where_blind_is_the_rule_no_verdict_stands_beside_a_name_before_the_first_score(
    workspace: Workspace,
) -> None:
    (workspace.root / "judge-tui.toml").write_text("[blind]\nalways = true\n")
    for model in ("alpha", "beta"):
        store_verdicts(workspace, model, [Verdict.PASS])
    async with running(make_home(Workspace.find(explicit=workspace.root))) as app:
        await ready(app)
        assert "Alpha › kv  verdicts are told once the names are revealed" in app.text()
        assert "not scored yet" in app.text()
        assert "✓" not in app.text()


async def test_nothing_to_judge_says_how_to_begin(tmp_path: Path, workspace: Workspace) -> None:
    (tmp_path / "empty" / "submissions").mkdir(parents=True)
    (tmp_path / "empty" / "scores").mkdir()
    async with running(make_home(Workspace.find(explicit=tmp_path / "empty")), (80, 24)) as app:
        await ready(app)
        assert "No submissions yet." in app.text()
        assert "judge-tui add FOLDER" in app.text()
        await app.press("enter", "space", "n", "j", "tab", "enter", "r")
        assert app.app.screen is app.app.home


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
