from __future__ import annotations

from pathlib import Path

import pytest
from textual.widgets import TextArea

from judge_tui.checks.events import Ready
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.screens.evidence import EvidenceScreen
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.screens.text_editor import TextEditor

from .conftest import DYING, ENGINE, HANGING, make_app, make_workspace, running


def card_path(workspace: Workspace, model: str = "alpha") -> Path:
    return workspace.scorecard_path("kv", model, "anna")


async def test_both_files_and_every_verdict_are_in_view(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        text = app.text()
        assert text.count("class Cache:") == 2
        assert text.count("reconstruction") == 1
        assert "sandbox full" in text
        assert "A Alpha ✓ 3 pass" in text
        assert "B Beta ✗ 1 fail   ✓ 2 pass" in text


async def test_the_worst_verdict_comes_first_with_its_number(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        assert app.compare.checks_pane.rows.keys[0] == "accuracy"
        assert app.compare.checks_pane.rows.cell == ("beta", "accuracy")
        assert "rel err 0.032, limit 1e-05 ␛[31m" in app.text()


async def test_evidence_opens_shows_output_harmlessly_and_jumps_to_the_line(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("c", "enter")
        assert isinstance(app.app.screen, EvidenceScreen)
        text = app.text()
        assert "one␛]0;title␇" in text
        assert "[bold]two[/bold]" in text
        assert "kv_cache.py:15" in text
        assert "(logarithmic)" in text, text
        await app.press("o")
        pane = app.compare.panes[1]
        assert app.app.focused is pane.view
        assert (pane.file, pane.view.cursor) == ("kv_cache.py", 14)


async def test_a_finding_is_marked_and_opens_from_its_line(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("B", "right_curly_bracket")
        assert app.compare.panes[1].view.cursor == 14
        await app.press("enter")
        assert isinstance(app.app.screen, EvidenceScreen)


async def test_all_dimensions_are_scored_by_keys_alone(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "c", "6", "0", "t", "8", "5", "w", "t", "1", "0", "0", "c", "9", "1", "minus")
        assert app.compare.session.unsaved() == () or app.compare.session.flush() is None
    alpha, beta = (load_scorecard(card_path(workspace, model)) for model in ("alpha", "beta"))
    assert alpha.scores == {"correctness": 60, "tests": 85}
    assert beta.scores == {"correctness": 90, "tests": 100}


async def test_a_cap_is_explained_where_it_bites(workspace: Workspace) -> None:
    async with running(make_app(workspace), (240, 45)) as app:
        await app.settle()
        await app.press("B", "s", "9", "0")
        text = app.text()
        assert "Correctness is 90, and at most 65 is" in text
        assert " !90 " in text


async def test_typing_a_comment_triggers_no_key_and_no_key_swallows_it(workspace: Workspace) -> None:
    typed = "q? s u 85[b]q"
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "enter")
        assert isinstance(app.app.screen, TextEditor)
        await app.press(*(("space" if ch == " " else ch) for ch in typed))
        assert app.app.screen.query_one(TextArea).text == typed
        await app.press("escape")
        assert app.app.screen is app.compare
        assert typed in app.text()
    card = load_scorecard(card_path(workspace))
    assert card.comment("correctness") == typed
    assert card.scores == {"correctness": None}


async def test_undo_and_redo_work_from_every_part(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "8", "5", "u")
        assert app.compare.session.card.scores == {}
        await app.press("escape", "ctrl+r")
        assert app.app.focused is app.compare.panes[0].view
        assert app.compare.session.card.score("correctness") == 85


async def test_the_next_unscored_line_of_another_submission_is_told_in_the_title_until_it_is_scored(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        session = app.compare.session
        await app.press("s", "n", "7", "0")
        assert (session.scored, session.focus.id) == (0, "tests")  # type: ignore[union-attr]
        assert "now" not in app.text()
        await app.press("n")
        assert "Rubric  A has 1 open: now B Beta" in app.text()
        await app.press("n", "n", "8", "5", "n")
        assert "Rubric  A is complete: now B Beta" in app.text()
        # a line of one's own choice is no longer what it led to
        await app.press("j")
        assert "is complete" not in app.text()
        await app.press("k", "8")
        assert "is complete" not in app.text()
        assert session.cards[1].score("correctness") == 8


async def test_three_submissions_at_80_columns_are_reached_by_keys(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma")), (80, 24)) as app:
        await app.settle()
        assert [pane.display for pane in app.compare.panes] == [True, True, False]
        await app.press("C")
        assert [pane.display for pane in app.compare.panes] == [False, True, True]
        await app.press("s", "7", "7")
        assert app.compare.session.cards[2].score("correctness") == 77
        assert app.compare.panes[2].display
        # it goes on to the next of three, and not back
        assert "w switch A/B/C" in app.text()
        await app.press("w")
        assert app.compare.session.scored == 0
        await app.press("w", "w")
        assert app.compare.session.scored == 2
        await app.press("z")
        assert "Weighted mean" in app.text()
        await app.press("z", "tab")
        assert app.app.focused is app.compare.checks_pane.rows
        assert app.compare.checks_pane.display


async def test_parts_are_hidden_shown_and_zoomed(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        compare = app.compare
        await app.press("f2", "f3")
        assert not compare.rubric_pane.display
        assert not compare.checks_pane.display
        await app.press("f2", "f3", "f4")
        assert compare.rubric_pane.display
        assert compare.panes[0].sidebar.display
        await app.press("z")
        assert [pane.display for pane in compare.panes] == [True, False]
        assert not compare.checks_pane.display
        await app.press("z")
        assert compare.checks_pane.display


async def test_one_check_runs_again_when_asked(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("c", "r")
        await app.until(lambda: "again: rel err" in app.text())
        assert "again: all well" not in app.text()


async def test_checks_are_cancelled_and_their_processes_end(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=HANGING)) as app:
        await app.until(lambda: app.compare.session.outcomes)
        [run] = app.compare.runner._runs
        process = run._process
        assert process is not None
        await app.press("c", "x")
        await app.until(lambda: process.ended and not app.compare.runner.active)


async def test_an_engine_that_dies_is_told_in_a_sentence_and_the_app_goes_on(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=DYING)) as app:
        await app.until(lambda: "ended unexpectedly (exit code 3). boom ␛[31m" in app.text())
        await app.press("s", "8", "5")
        assert app.compare.session.card.score("correctness") == 85


@pytest.mark.parametrize("engine", ["print('no json')", "import sys; sys.stdout.write('x' * 100000)", "pass"])
async def test_an_engine_that_talks_nonsense_leaves_the_app_usable(workspace: Workspace, engine: str) -> None:
    async with running(make_app(workspace, engine=engine)) as app:
        await app.until(lambda: app.compare.checks_pane.failure and not app.compare.runner.active)
        await app.press("j")
        assert app.compare.panes[0].view.cursor == 1


async def test_a_second_window_is_asked_about(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "8", "5")
        app.compare.session.flush()
        path = card_path(workspace)
        path.write_text(path.read_text().replace("score = 85", "score = 40"))
        await app.press("c", "7", "0", "enter")
        await app.until(lambda: "press ! to settle" in app.text())
        await app.press("exclamation_mark")
        assert "Changed by another window" in app.text()
        await app.press("r")
        assert app.compare.session.card.scores == {"correctness": 40}
        await app.press("u")
        assert app.compare.session.card.scores == {"correctness": 70}
    assert load_scorecard(card_path(workspace)).scores == {"correctness": 70}


async def test_help_lists_the_keys_that_are_bound(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (100, 160)) as app:
        await app.press("question_mark")
        assert isinstance(app.app.screen, HelpScreen)
        text = app.text()
        for told in ("select lines", "next unscored", "run again", "zoom this part", "redo"):
            assert told in text
        await app.press("escape")
        assert app.app.screen is app.compare


async def test_the_command_palette_has_the_apps_actions(workspace: Workspace) -> None:
    app_ = make_app(workspace, engine=None)
    async with running(app_) as app:
        titles = {command.title for command in app_.get_system_commands(app_.screen)}
        assert {"Score", "Note on the lines", "Zoom this part", "Next match"} <= titles
        await app.press("ctrl+p")
        await app.press("escape")
        assert app.app.screen is app.compare


async def test_no_key_of_the_comparison_is_tmuxs_prefix(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        for part in (
            app.compare,
            app.compare.panes[0].view,
            app.compare.rubric_pane.lines,
            app.compare.checks_pane.rows,
        ):
            assert "ctrl+b" not in part._bindings.key_to_bindings


async def test_escape_leads_back_to_the_code_and_closes_the_rubric_of_a_narrow_screen(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None), (80, 24)) as app:
        await app.press("s")
        assert app.compare.rubric_pane.display
        await app.press("escape")
        assert not app.compare.rubric_pane.display
        assert app.app.focused is app.compare.panes[0].view


async def test_stray_keys_destroy_nothing(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "8", "5", "x", "d", "delete", "k", "j")
        assert app.compare.session.card.score("correctness") in (85, None)
        for _ in range(3):
            if app.compare.session.card.score("correctness") != 85:
                await app.press("u")
        assert app.compare.session.card.score("correctness") == 85


async def test_checks_that_nobody_runs_are_not_said_to_wait(workspace: Workspace) -> None:
    engine = ENGINE.split('for s in request["submissions"]:\n')[0] + "sys.exit(9)"
    async with running(make_app(workspace, engine=engine)) as app:
        await app.until(lambda: "ended unexpectedly" in app.text())
        await app.until(lambda: "not run" in app.text())
        assert "waiting" not in app.text()
        assert "R runs them again" in app.text()


async def test_a_narrow_screen_says_how_the_hidden_pane_is_reached(
    tmp_path: Path, workspace: Workspace
) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma")), size=(80, 24)) as app:
        await app.settle()
        assert "A/B/C pane" in app.text()
        await app.press("C")
        assert "Gamma" in app.text().split("\n")[1]


@pytest.mark.parametrize("keys", ["", "s", "c"])
async def test_help_and_the_way_back_are_hinted_at_on_a_small_screen(workspace: Workspace, keys: str) -> None:
    async with running(make_app(workspace), size=(80, 24)) as app:
        await app.settle()
        await app.press(*keys)
        hints = app.text().split("\n")[-1]
        assert "? help" in hints
        assert ("esc code" in hints) == bool(keys)


async def test_the_screen_is_drawn_anew_when_the_shell_gives_it_back(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        drawn: list[bool] = []
        compositor = app.compare._compositor
        full = compositor.render_full_update
        monkeypatch.setattr(
            compositor, "render_full_update", lambda **said: (drawn.append(True), full(**said))[1]
        )
        app.app.app_resume_signal.publish(app.app)
        await app.until(lambda: drawn)


async def test_behind_a_dialog_nothing_is_drawn_again_that_has_not_changed(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        await driver.press("s", "enter")
        driver.compare.query_one("#header").refresh()
        await driver.until(lambda: not driver.compare._dirty_widgets)
        # one turn of each timer of the covered screen
        await driver.pilot.pause(0.2)
        assert not driver.compare._repaint_required
        assert not driver.compare._repaint_regions


async def test_what_the_engine_tells_while_the_screen_is_taken_down_is_no_fault(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        compare = driver.compare
    assert not compare.children
    compare.parts.checks.take(Ready("cpu", "NumPy", "full", 7))


async def test_what_a_key_tells_takes_the_place_of_what_the_key_before_told(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as driver:
        await driver.settle()
        driver.app.notify("a warning stays", severity="warning", timeout=90)
        driver.app.notify("so does what is long in view", timeout=90)
        for key in ("s", "9", "j", "8", "u", "u", "u"):
            await driver.press(key)
        await driver.until(
            lambda: any(told.message == "nothing to be undone" for told in driver.app._notifications)
        )
        assert [told.message for told in driver.app._notifications] == [
            "a warning stays",
            "so does what is long in view",
            "nothing to be undone",
        ]


async def test_a_score_that_is_typed_over_is_told(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("s", "c", "8", "5", "t", "c", "1", "enter")
        await app.until(lambda: "A: Correctness 85 → 1" in app.messages())
        await app.press("t", "8", "full_stop", "5")
        await app.until(lambda: "A score is 0 to 100, and whole: 8 stands." in app.messages())
        assert app.compare.session.card.scores == {"correctness": 1, "tests": 8}
        # nor does the file behind come into view
        assert app.compare.panes[0].file == "kv_cache.py"
