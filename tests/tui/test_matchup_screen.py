"""The matchup by keys: every line accepted, changed, removed, written and undone; what is on disk then."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge_tui.checks.verdict import Outcome, Verdict
from judge_tui.judging.matchup import TIE, Matchup, Matchups, load_matchups, save_matchups
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.desk.matchup_desk import WINNER
from judge_tui.tui.screens.criterion_editor import CriterionEditor
from judge_tui.tui.screens.help import HelpScreen
from judge_tui.tui.screens.matchup import MatchupScreen
from judge_tui.tui.screens.question import Question
from judge_tui.tui.screens.text_editor import TextEditor
from judge_tui.tui.widgets.checks_pane import CheckState

from .conftest import THREE, Driver, make_app, make_workspace, running

SCORED = ("s", "c", "6", "0", "t", "7", "0", "w", "c", "9", "0", "t", "7", "0", "escape")


def path_of(workspace: Workspace) -> Path:
    return workspace.matchups_path("kv", "anna")


def screen(app: Driver) -> MatchupScreen:
    assert isinstance(app.app.screen, MatchupScreen)
    return app.app.screen


async def on_disk(app: Driver, workspace: Workspace) -> Matchup:
    app.matchup.flush()
    [matchup] = load_matchups(path_of(workspace)).matchups
    return matchup


async def test_a_tie_takes_no_margin(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "t", "j", "5")
        assert "A tie has no margin." in app.messages()
        matchup = await on_disk(app, workspace)
    assert (matchup.winner, matchup.margin) == (TIE, None)


async def test_scores_and_checks_propose_and_the_judge_accepts_by_keys(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press(*SCORED, "M")
        text = app.text()
        assert "Winner              ? B Beta" in text
        assert "Margin              ? 22 points" in text
        assert "Proposed from scores and measurements" in text
        await app.press("space", "space")
        assert screen(app).rows.key == ("proposal", "dimension:correctness")
        await app.press("space", "t")
        matchup = await on_disk(app, workspace)
    assert (matchup.winner, matchup.margin) == ("beta", 22)
    assert matchup.key_differentiator == "Correctness (90 against 60)."
    first, second = matchup.criteria
    assert (first.name, first.edge, first.note, first.cells["beta"]) == (
        "Correctness",
        "beta",
        "30 more",
        "90",
    )
    # the cursor went on to the next proposal: beta fails its check, and the judge says otherwise
    assert (second.basis, second.edge, second.cells["alpha"]) == ("check:accuracy", TIE, "pass: all well")


async def test_a_winner_that_was_decided_on_other_files_is_told_until_decided_again(
    workspace: Workspace,
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A")
        assert "files changed" not in app.text()
        seen = (await on_disk(app, workspace)).submissions
        assert seen == {m: workspace.submission(m, "kv").digest for m in ("alpha", "beta")}
    (workspace.root / "submissions" / "beta" / "kv" / "kv_cache.py").write_text("x = 1\n")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert "~ files changed since this was decided" in app.text()
        await app.press("A")
        assert "files changed" not in app.text()
        assert (await on_disk(app, workspace)).submissions["beta"] != seen["beta"]


async def test_winner_margin_and_edges_are_typed(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M", "B", "j", "1", "2", "j", "j", "B")
        matchup = await on_disk(app, workspace)
        assert (matchup.winner, matchup.margin) == ("beta", 12)
        assert [line.edge for line in matchup.criteria] == ["beta"]
        await app.press("g", "A")
        assert (await on_disk(app, workspace)).margin is None
        await app.press("t", "j", "backspace", "G", "t")
        matchup = await on_disk(app, workspace)
        assert (matchup.winner, matchup.criteria[0].edge) == (TIE, TIE)
        await app.press("backspace")
        assert (await on_disk(app, workspace)).criteria[0].edge is None


async def test_a_letter_that_stands_for_nobody_says_nothing_and_a_digit_counts(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "C", "1", "2", "G", "g", "2")
        assert app.matchup.matchup.blank


async def test_a_line_of_ones_own_is_written_changed_moved_and_deleted(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "a")
        assert isinstance(app.app.screen, CriterionEditor)
        await app.press(*"Tests", "enter", *"8", "enter", *"none", "tab", *"q d 1?", "escape")
        assert screen(app).rows.key == ("criterion", 0)
        await app.press("A", "a", *"Docs", "escape", "K", "enter", *"both", "escape")
        matchup = await on_disk(app, workspace)
        assert [line.name for line in matchup.criteria] == ["Docs", "Tests"]
        docs, tests = matchup.criteria
        assert (tests.cells, tests.edge, tests.note) == ({"alpha": "8", "beta": "none"}, "alpha", "q d 1?")
        assert docs.note == "both"
        await app.press("d")
        assert [line.name for line in (await on_disk(app, workspace)).criteria] == ["Tests"]
        await app.press("u", "u", "u", "u")
        assert [line.name for line in (await on_disk(app, workspace)).criteria] == ["Tests"]
        await app.press(*["ctrl+r"] * 4, "u")
        assert [line.name for line in (await on_disk(app, workspace)).criteria] == ["Docs", "Tests"]


async def test_what_decided_is_written_as_it_is_typed(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "j", "j", "enter")
        assert isinstance(app.app.screen, TextEditor)
        await app.press(*"half")
        assert (await on_disk(app, workspace)).key_differentiator == "half"
        await app.press("escape", "enter", "s", "escape")
        assert (await on_disk(app, workspace)).key_differentiator == "halfs"
        await app.press("u")
        assert (await on_disk(app, workspace)).key_differentiator == "half"
        await app.press("d")
        assert app.matchup.matchup.blank


async def test_proposals_are_declined_accepted_at_once_and_asked_for_again(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press(*SCORED, "M", "G", "d")
        matchup = await on_disk(app, workspace)
        assert matchup.declined == ("check:accuracy",)
        assert "Accuracy" not in app.text()
        await app.press("A")
        assert [line.name for line in (await on_disk(app, workspace)).criteria] == ["Correctness"]
        await app.press("R")
        assert "Accuracy" in app.text()
        assert (await on_disk(app, workspace)).declined == ()


async def test_the_figures_of_a_line_are_read_in_full_below(workspace: Workspace) -> None:
    async with running(make_app(workspace), (80, 24)) as app:
        await app.settle()
        await app.press("M", "G")
        text = app.text()
        assert "fail: rel err 0.032, limit 1e-05 ␛[31m" in text
        assert "pass: all well" in text


async def test_what_checks_find_meanwhile_is_proposed_too(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert "Accuracy" not in app.text()
        for model, verdict in (("alpha", Verdict.PASS), ("beta", Verdict.FAIL)):
            app.compare.session.seen(Outcome(model, "kv", "accuracy", verdict, "said", 0.1))
        # stored verdicts are there before the engine says what a check is called
        assert app.compare.parts.matchups.proposal(app.matchup).criteria == ()
        for model in ("alpha", "beta"):
            app.compare.checks_pane.states[model, "accuracy"] = CheckState(title="how exact it is")
        await app.until(lambda: "fail: said" in app.text())
        assert "how exact it is" in app.text()
        assert screen(app).rows.key == WINNER


async def test_figures_that_changed_since_are_said_to(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M", "G", "space", "escape", "c", "r")
        await app.until(lambda: "again: rel err" in app.text())
        await app.press("M", "G")
        assert "≠" in app.text()
        assert "now: fail: again: rel err" in app.text()
        await app.press("space")
        assert (await on_disk(app, workspace)).criteria[0].cells["beta"].startswith("fail: again")
        assert "≠" not in app.text()


async def test_three_submissions_are_matched_up(tmp_path: Path, workspace: Workspace) -> None:
    three = make_workspace(tmp_path / "three", ("alpha", "beta", "gamma"))
    async with running(make_app(three, ("alpha", "beta", "gamma"), engine=None), (80, 24)) as app:
        await app.press("M", "C", "a", *"Tests", "escape", "B")
        assert "C Gamma" in app.text()
        app.compare.session.flush()
        [matchup] = load_matchups(path_of(three)).matchups
    assert (matchup.models, matchup.winner) == (("alpha", "beta", "gamma"), "gamma")
    assert matchup.edges() == {"alpha": 0, "beta": 1, "gamma": 0, TIE: 0}


async def test_at_80_columns_the_keys_that_lead_away_are_told(workspace: Workspace, three: Workspace) -> None:
    for room, models, told in (
        (three, ("alpha", "beta", "gamma"), ("tab pairs", "esc back", "enter edit", "? help")),
        (workspace, ("alpha", "beta"), ("esc back", "enter edit", "? help")),
    ):
        async with running(make_app(room, models, engine=None), (80, 24)) as app:
            await app.press("M")
            line = app.text().split("\n")[-1]
            assert all(words in line for words in told)
            assert ("tab" in line) == (len(models) == 3)


async def test_undo_says_by_letter_who_was_ahead(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A", "B", "u")
        assert "undone: winner, B → A · ^r redoes" in app.messages()
        await app.press("ctrl+r")
        assert "redone: winner, A → B" in app.messages()


async def test_what_is_proposed_is_offered_only_where_something_is(workspace: Workspace) -> None:
    margin, winner = "digits type the margin in points, 0 to 100", "A B or t say who wins"
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "enter")
        assert winner in app.messages()
        await app.press("j", "enter")
        assert margin in app.messages()
        await app.press("escape", *SCORED, "M", "g", "enter")
        assert f"{winner}; space takes what is proposed" in app.messages()
        await app.press("j", "enter")
        assert f"{margin}; space takes what is proposed" in app.messages()
        # what stands as it is proposed is there to be taken no more
        await app.press("space", "k", "enter")
        assert margin in app.messages()
        await app.press("k", "enter")
        assert f"{winner}; space takes what is proposed" in app.messages()
        await app.press("space", "g", "enter")
        assert winner in app.messages()


async def test_where_nothing_is_to_be_undone_that_is_told(three: Workspace) -> None:
    async with running(make_app(three, THREE, engine=None)) as app:
        await app.press("M", "u")
        assert "nothing to be undone" in app.messages()
        await app.press("tab", "tab", "ctrl+r")
        assert "nothing to be redone" in app.messages()


async def test_a_matchup_is_there_again_and_undone_after_a_restart(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A", "j", "5", "escape", "q")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert "A Alpha" in app.text().split("\n")[1]
        assert "5 points" in app.text()
        await app.press("u", "u")
        assert app.matchup.matchup.blank


async def test_undo_goes_back_over_scores_and_matchups_in_the_order_of_doing(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("s", "c", "8", "5", "M", "A", "escape", "t", "7", "0")
        session, matchup = app.compare.session, app.matchup
        await app.press("u")
        assert (session.card.score("tests"), session.card.score("correctness")) == (None, 85)
        await app.press("u")
        assert "undone: matchup of A and B: winner, A → – · ^r redoes" in app.messages()
        assert (matchup.matchup.winner, session.card.score("correctness")) == (None, 85)
        # from within the matchup too, which proposes by the scores as they are then
        await app.press("M", "u")
        assert "undone: A: Correctness score, 85 → – · ^r redoes" in app.messages()
        assert session.card.scores == {}
        await app.press("u")
        assert "nothing to be undone" in app.messages()
        await app.press("ctrl+r", "ctrl+r")
        assert (matchup.matchup.winner, session.card.score("correctness")) == ("alpha", 85)
        assert any(told.startswith("redone: winner") for told in app.messages())
        await app.press("escape", "ctrl+r", "ctrl+r")
        assert session.card.score("tests") == 70
        assert "nothing to be redone" in app.messages()
        assert " 70" in app.text()


async def test_a_change_of_one_forgets_what_was_undone_of_the_other(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A", "u", "escape", "s", "c", "8", "5", "ctrl+r")
        assert "nothing to be redone" in app.messages()
        assert app.matchup.matchup.winner is None
        await app.press("u", "M", "ctrl+r")
        assert app.compare.session.card.score("correctness") == 85


async def test_the_order_of_doing_outlives_a_restart(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "A", "escape", "s", "c", "8", "5", "M", "j", "5", "escape", "q")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "u")
        assert (app.matchup.matchup.margin, app.matchup.matchup.winner) == (None, "alpha")
        await app.press("u")
        assert app.compare.session.card.scores == {}
        assert app.matchup.matchup.winner == "alpha"
        await app.press("u")
        assert app.matchup.matchup.blank
        await app.press("escape", "ctrl+r", "ctrl+r")
        assert app.compare.session.card.score("correctness") == 85


async def test_a_file_that_is_off_is_told_and_everything_else_goes_on(workspace: Workspace) -> None:
    path = path_of(workspace)
    path.parent.mkdir(parents=True)
    path.write_text("task = [")
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        assert app.app.screen is app.compare
        assert any("is not valid TOML" in told.message for told in app.app._notifications)
        await app.press("s", "c", "8", "5")
        app.compare.session.flush()
        assert load_scorecard(app.compare.session.paths[0]).score("correctness") == 85
        path.unlink()
        await app.press("escape", "M", "A")
        assert (await on_disk(app, workspace)).winner == "alpha"


@pytest.mark.parametrize(("key", "winner"), [("o", "alpha"), ("r", "beta")])
@pytest.mark.parametrize("covered", [True, False])
@pytest.mark.usefixtures("not_looking")
async def test_a_second_window_is_asked_about(
    workspace: Workspace, key: str, winner: str, covered: bool
) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        theirs = Matchups("kv", "anna", (Matchup(("alpha", "beta"), "beta"),))
        save_matchups(path_of(workspace), theirs, None)
        await app.press("A")
        await app.until(lambda: "press ! to settle" in app.text())
        if not covered:
            # outside the matchup it is told and settled as for a scorecard
            await app.press("escape")
            assert "press ! to settle" in app.text()
        await app.press("exclamation_mark")
        assert isinstance(app.app.screen, Question)
        assert "matchup" in app.text()
        await app.press(key)
        assert (await on_disk(app, workspace)).winner == winner
        await app.until(lambda: "press ! to settle" not in app.text())


async def test_a_disk_that_takes_nothing_is_told_and_tried_again(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M")
        (workspace.root / "scores" / "kv").write_text("in the way")
        await app.press("A")
        await app.until(lambda: "NOT SAVED" in app.text())
        (workspace.root / "scores" / "kv").unlink()
        await app.press("ctrl+s")
        await app.until(lambda: "saved 12:00:00" in app.text())
        assert (await on_disk(app, workspace)).winner == "alpha"


async def test_leaving_at_once_saves_it(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None)) as app:
        await app.press("M", "B", "M", "q")
        await app.until(lambda: app.app._exit)
    assert load_matchups(path_of(workspace)).matchups[0].winner == "beta"


async def test_help_lists_the_keys_of_the_matchup(workspace: Workspace) -> None:
    async with running(make_app(workspace, engine=None), (100, 60)) as app:
        await app.press("M", "question_mark")
        assert isinstance(app.app.screen, HelpScreen)
        for told in ("accept all that is proposed", "remove, decline", "add a line", "line further up"):
            assert told in app.text()


async def test_three_have_a_matchup_for_all_and_one_for_every_two(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, ("alpha", "beta", "gamma"))
    async with running(make_app(workspace, ("alpha", "beta", "gamma"))) as app:
        await app.settle()
        await app.press("M", "A", "tab")
        assert screen(app).rows.leaders == ["A", "B"]
        await app.press("B", "tab", "B")
        # A against C: what is between them is no word of B
        assert screen(app).rows.leaders == ["A", "C"]
        pair = app.compare.session.matchups[0, 2]
        assert pair.matchup.winner is None
        await app.press("C", "a", *"slow", "tab", *"x y", "escape")
        assert pair.matchup.criteria[0].cells == {"alpha": "x y"}
        await app.press("escape", "M")
        assert screen(app).rows.leaders == ["A", "C"]
        await app.press("tab", "t", "tab")
        assert screen(app).rows.leaders == ["A", "B", "C"]
        # undo takes the last change back, of whichever matchup
        await app.press("shift+tab", "shift+tab", "u", "u")
        assert "undone: criterion slow · ^r redoes" in app.messages()
        assert pair.matchup.criteria == ()
        await app.press("tab", "t")
        app.compare.session.flush()
        found = {matchup.models: matchup.winner for matchup in load_matchups(path_of(workspace)).matchups}
        assert found == {
            ("alpha", "beta", "gamma"): "alpha",
            ("alpha", "beta"): "beta",
            ("alpha", "gamma"): "gamma",
            ("beta", "gamma"): TIE,
        }


async def test_two_have_one_matchup_alone(workspace: Workspace) -> None:
    async with running(make_app(workspace)) as app:
        await app.settle()
        await app.press("M", "A", "tab")
        assert screen(app).rows.leaders == ["A", "B"]
        assert list(app.compare.session.matchups) == [(0, 1)]


@pytest.mark.usefixtures("not_looking")
async def test_a_conflict_of_another_matchup_is_settled_from_here_too(tmp_path: Path) -> None:
    workspace = make_workspace(tmp_path, ("alpha", "beta", "gamma"))
    async with running(make_app(workspace, ("alpha", "beta", "gamma"))) as app:
        await app.settle()
        await app.press("M", "A")
        app.matchup.flush()
        path = path_of(workspace)
        path.unlink()
        others = Matchups("kv", "anna", (Matchup(("alpha", "beta", "gamma"), "gamma"),))
        save_matchups(path, others, None)
        await app.press("B")
        await app.until(lambda: "press ! to settle" in app.text())
        await app.press("tab", "!")
        assert isinstance(app.app.screen, Question)
        assert "The matchup of anna on A, B, C" in app.text()
        assert "winner: B Beta here, C Gamma there" in app.text()
        await app.press("r")
        await app.until(lambda: "press ! to settle" not in app.text())
        assert app.matchup.matchup.winner == "gamma"
        assert screen(app).rows.leaders == ["A", "B"]
