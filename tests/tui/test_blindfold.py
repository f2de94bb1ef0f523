"""A blind session without a screen: seats, marks on the cards, the reveal, undo across it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge_tui.checks.errors import WorkspaceError
from judge_tui.checks.verdict import Curve, Evidence, Outcome, Verdict
from judge_tui.judging.card import Scorecard
from judge_tui.judging.scoreboard import sealed_cards
from judge_tui.judging.scorecard import load_scorecard
from judge_tui.judging.workspace import CONFIG, Workspace
from judge_tui.tui.desk.autosave import SaveReport
from judge_tui.tui.session import Session

from .hostile_names import MODELS, TITLES, make_hostile, names_in

Opener = Callable[..., Session]


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return make_hostile(tmp_path / "ws")


@pytest.fixture
def opened(workspace: Workspace) -> Iterator[Opener]:
    sessions: list[Session] = []

    def open_session(*, blind: bool = True, judge: str = "anna", models: tuple[str, ...] = MODELS) -> Session:
        there = Workspace.find(explicit=workspace.root)
        submissions = [there.submission(model, "kv") for model in models]
        sessions.append(Session(there, submissions, judge, blind=blind))
        return sessions[-1]

    yield open_session
    for session in sessions:
        session.close()


def order(session: Session) -> list[str]:
    return [submission.model for submission in session.submissions]


def score(session: Session, *values: int) -> None:
    """Score everything, submission by submission."""
    for index, value in enumerate(values):
        for row in range(2):
            session.scored = index
            session.focus_row(row)
            for digit in str(value + row):
                session.digit(digit)


def card(session: Session, index: int) -> Scorecard:
    session.flush()
    return load_scorecard(session.paths[index])


def test_seats_are_drawn_once_for_judge_and_pair_and_kept(opened: Opener, tmp_path: Path) -> None:
    first = order(opened())
    assert order(opened()) == order(opened(models=MODELS[::-1])) == first
    orders = {tuple(order(opened(judge=f"judge{number}"))) for number in range(24)}
    # one chance in eight million that all 24 judges draw the same
    assert orders == {MODELS, MODELS[::-1]}
    [*files] = (tmp_path / "state" / "judge-tui" / "blind").iterdir()
    assert len(files) == 25
    assert not any(names_in(file.name + file.read_text()) for file in files)


def test_a_draw_that_was_tampered_with_opens_nothing_and_says_where_it_is(
    opened: Opener, tmp_path: Path
) -> None:
    opened().close()
    [file] = (tmp_path / "state" / "judge-tui" / "blind").iterdir()
    file.write_text(file.read_text().replace('"digest": "', '"digest": "0'))
    with pytest.raises(WorkspaceError, match="not the one that was drawn") as caught:
        opened()
    assert caught.value.file == str(file)
    assert names_in(str(caught.value)) == []


def test_a_comparison_that_is_not_blind_sits_as_it_was_asked_for(opened: Opener, tmp_path: Path) -> None:
    for models in (MODELS, MODELS[::-1]):
        session = opened(blind=False, models=models)
        assert order(session) == list(models)
        assert session.titles == tuple(TITLES[model] for model in models)
        assert session.hide("glm5") == "glm5"
    assert not (tmp_path / "state" / "judge-tui" / "blind").exists()


def test_names_and_outcomes_are_hidden_while_the_cards_go_to_their_models(opened: Opener) -> None:
    session = opened()
    assert names_in(" ".join(session.titles)) == []
    hidden = [
        session.hide(f"# written by {name}, who thinks of caches") for name in ("glm5", "GLM-5", "qwen36")
    ]
    # as long as the longer name: the length does not tell which one stands there
    assert [text.count("▒") for text in hidden] == [7, 7, 7]
    assert {text[: text.index("▒")] for text in hidden} == {"# written by "}
    score(session, 80, 60)
    for index, model in enumerate(order(session)):
        saved = card(session, index)
        assert (saved.model, saved.score("correctness")) == (model, (80, 60)[index])
        assert saved.sealed
        assert saved.submission == session.submissions[index].digest


def test_every_text_of_an_outcome_is_masked_and_its_place_is_not(opened: Opener) -> None:
    session = opened()
    item = Evidence(
        "glm5 err", "qwen36", "GLM-5", "Kimi", False, "glm5_kv.py", 3, "of Qwen",
        Curve("glm steps", "qwen err", ((1.0, 2.0),)), (("glm5", "1"),), "in qwen36/x.py",
    )  # fmt: skip
    outcome = Outcome("glm5", "kv", "accuracy", Verdict.FAIL, "GLM-5 fails", 0.1, (item,))
    shown = session.blindfold.shown(outcome)
    [masked] = shown.evidence
    assert (masked.file, masked.line) == ("glm5_kv.py", 3)
    assert names_in(repr(shown).replace("glm5_kv.py", "")) == []
    session.seen(outcome)
    score(session, 80, 60)
    assert card(session, order(session).index("glm5")).checks[0].summary == "GLM-5 fails"


def test_the_first_change_seals_every_card_of_the_comparison(opened: Opener, workspace: Workspace) -> None:
    session = opened()
    session.digit("7")
    session.flush()
    assert {sealed.model for sealed in sealed_cards(workspace)} == set(MODELS)
    assert [card(session, index).scores for index in (0, 1)] == [{"correctness": 7}, {}]


def test_a_winner_that_is_named_before_any_score_seals_every_card(
    opened: Opener, workspace: Workspace
) -> None:
    session = opened()
    session.open_matchup().edge("winner", order(session)[0])
    session.flush()
    assert {sealed.model for sealed in sealed_cards(workspace)} == set(MODELS)
    session.close()
    assert opened(blind=False).blindfold.active


def test_looking_alone_leaves_no_card(opened: Opener) -> None:
    session = opened()
    session.close()
    assert not any(path.exists() for path in session.paths)


def test_a_comparison_that_was_begun_blind_cannot_be_opened_under_the_names(opened: Opener) -> None:
    session = opened()
    session.digit("7")
    session.close()
    again = opened(blind=False)
    assert again.blindfold.active
    assert order(again) == order(session)


def test_the_rule_of_an_organiser_holds_without_the_option(opened: Opener, workspace: Workspace) -> None:
    config = workspace.root / CONFIG
    config.write_text(config.read_text().replace("[blind]", "[blind]\nalways = true"))
    assert opened(blind=False).blindfold.active


def test_nothing_is_revealed_before_everything_is_scored(opened: Opener) -> None:
    session = opened()
    score(session, 80)
    assert session.unscored == 2
    assert not session.reveal()
    assert session.blindfold.active
    assert card(session, 0).sealed


def test_a_reveal_shows_the_names_and_every_card_says_when_on_which_side_and_what_was_scored(
    opened: Opener,
) -> None:
    session = opened()
    score(session, 80, 60)
    assert session.reveal()
    assert session.titles == tuple(TITLES[model] for model in order(session))
    assert session.hide("glm5") == "glm5"
    for index in (0, 1):
        mark = card(session, index).blind
        assert mark is not None
        assert mark.revealed is not None
        assert mark.side == "AB"[index]
        assert mark.scores == {"correctness": (80, 60)[index], "tests": (81, 61)[index]}
        assert mark.changed == ()
        assert not mark.known
    assert not session.reveal()


def test_what_is_changed_after_the_reveal_is_recorded_and_undo_takes_it_back_but_not_the_reveal(
    opened: Opener,
) -> None:
    session = opened()
    score(session, 80, 60)
    session.reveal()
    session.focus_row(0)
    session.scored = 1
    session.adjust(5)
    changed = card(session, 1).blind
    assert changed is not None
    assert changed.changed == ("correctness",)
    session.undo()
    undone = card(session, 1)
    assert undone.blind is not None
    assert (undone.score("correctness"), undone.blind.changed) == (60, ())
    while session.undo():
        pass
    emptied = card(session, 1)
    assert emptied.blind is not None
    assert (emptied.given, emptied.blind.changed) == ({}, ("correctness", "tests"))
    assert emptied.blind.revealed == undone.blind.revealed
    assert not session.blindfold.active


def test_undo_reaches_over_a_restart_and_over_the_reveal(opened: Opener) -> None:
    session = opened()
    score(session, 80, 60)
    session.close()
    session = opened()
    assert session.undo() == "B: Tests score, 61 → –"
    session.redo()
    session.reveal()
    session.close()
    session = opened()
    assert not session.blindfold.active
    assert session.undo() == "B: Tests score, 61 → –"
    undone = card(session, 1)
    assert undone.blind is not None
    assert undone.blind.changed == ("tests",)


def test_after_the_reveal_asking_for_a_blind_comparison_hides_nothing_and_keeps_the_sides(
    opened: Opener,
) -> None:
    session = opened()
    score(session, 80, 60)
    session.reveal()
    session.close()
    again = opened()
    assert order(again) == order(session)
    assert again.titles == tuple(TITLES[model] for model in order(again))
    again.close()
    assert order(opened(blind=False)) == list(MODELS)


def test_scores_from_before_are_told_apart(opened: Opener) -> None:
    session = opened(blind=False)
    score(session, 80, 60)
    session.close()
    blind = opened()
    assert blind.blindfold.known == (0, 1)
    blind.clear_score()
    assert blind.blindfold.known == (0, 1)
    marks = [card(blind, index).blind for index in (0, 1)]
    assert [mark is not None and mark.known for mark in marks] == [True, True]


def test_another_window_learns_of_the_reveal_when_it_settles_its_conflict(opened: Opener) -> None:
    one, other = opened(), opened()
    score(one, 80, 60)
    one.reveal()
    one.flush()
    other.digit("7")
    other.flush()
    assert other.unsaved()
    other.overwrite(0)
    other.flush()
    assert not other.blindfold.active
    saved = card(other, 0)
    assert saved.score("correctness") == 7
    assert saved.blind is not None
    assert saved.blind.revealed is not None
    assert saved.blind.changed == ("correctness", "tests")


def test_work_that_could_not_be_saved_comes_back_sealed_and_its_message_names_nobody(
    opened: Opener, workspace: Workspace
) -> None:
    reports: list[SaveReport] = []
    session = opened()
    blocked = workspace.root / "scores" / "kv"
    blocked.write_text("in the way")
    session._desk.autosave._report = reports.append
    session.digit("7")
    session.flush()
    session.close()
    assert reports
    assert all(names_in(report.message) and not names_in(session.hide(report.message)) for report in reports)
    blocked.unlink()
    again = opened(blind=False)
    assert again.blindfold.active
    assert again.card.score("correctness") == 7
    again.save_restored()
    assert card(again, 0).blind is not None
