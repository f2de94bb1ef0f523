"""Undo over a restart, and journals that are damaged."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from judge_tui.judging.card import CheckSeen
from judge_tui.judging.note import new_note
from judge_tui.judging.scorecard import FileStamp, load_scorecard, save_scorecard
from judge_tui.judging.workspace import Workspace
from judge_tui.tui.kept import rescue
from judge_tui.tui.session import Session

from .conftest import Opener


def test_changes_are_undone_and_redone_over_a_restart(opened: Opener) -> None:
    session = opened()
    for digit in "85":
        session.digit(digit)
    session.switch()
    session.digit("7")
    session.put_note(1, new_note("bug", "no", file=None, lines=None, source=""))
    session.undo()
    session.close()
    again = opened()
    again.redo()
    assert [note.text for note in again.notes(1)] == ["no"]
    again.undo()
    assert again.undo() == "B: Correctness score, 7 → –"
    assert again.undo() == "A: Correctness score, 85 → –"
    assert [card.score("correctness") for card in again.cards] == [None, None]
    again.close()
    third = opened()
    assert third.undo() is None
    third.redo()
    assert third.cards[0].score("correctness") == 85


def test_a_change_forgets_what_was_undone_before_it_over_a_restart_too(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.undo()
    session.switch()
    session.digit("7")
    session.close()
    assert opened().redo() is None


@pytest.mark.parametrize("restarted", [False, True])
def test_the_order_of_changes_outlives_a_clock_that_is_set_back(
    opened: Opener, monkeypatch: pytest.MonkeyPatch, restarted: bool
) -> None:
    session = opened()
    session.digit("1")
    session.switch()
    session.digit("2")
    if restarted:
        session.close()
        session = opened()
    before = time.time() - 3_600
    monkeypatch.setattr("judge_tui.tui.desk.history.time.time", lambda: before)
    session.score_now(0)
    session.digit("3")
    session.take_score()
    session.close()
    again = opened()
    assert [again.undo() for _ in range(3)] == [
        "A: Correctness score, 3 → 1",
        "B: Correctness score, 2 → –",
        "A: Correctness score, 1 → –",
    ]
    again.close()
    last = opened()
    assert last.redo() == "A: Correctness score, – → 1"
    assert last.redo() == "B: Correctness score, – → 2"


def test_what_was_typed_is_one_step_over_a_restart(opened: Opener) -> None:
    session = opened()
    row = session.rows[0]
    for text in ("a", "ab", "abc"):
        session.set_text(text, index=0, row=row)
    session.seal()
    session.set_text("abc d", index=0, row=row)
    session.close()
    again = opened()
    again.undo()
    assert again.card.comment("correctness") == "abc"
    again.undo()
    assert again.card.comment("correctness") == ""


def test_a_card_that_was_changed_elsewhere_keeps_its_history_below_that(
    opened: Opener, workspace: Workspace
) -> None:
    session = opened()
    session.digit("8")
    session.close()
    path = workspace.scorecard_path("kv", "alpha", "anna")
    card = load_scorecard(path)
    save_scorecard(path, card.with_score("correctness", 20), FileStamp.at(path))
    again = opened()
    assert again.card.score("correctness") == 20
    assert again.undo() is None
    assert again.undo(theirs=True) == "A: as it was found on disk"
    assert again.card.score("correctness") == 8
    again.undo()
    assert again.card.score("correctness") is None


def test_a_spoilt_journal_costs_the_history_only(opened: Opener, tmp_path: Path) -> None:
    session = opened()
    session.digit("8")
    session.close()
    (journal,) = [p for p in (tmp_path / "state").rglob("*.jsonl") if "alpha" in p.read_text()]
    journal.write_bytes(journal.read_bytes()[:-40] + b"\xff\x00 rubbish")
    again = opened()
    assert again.card.score("correctness") == 8
    again.digit("9")
    again.undo()
    assert again.card.score("correctness") == 8


def test_a_long_history_is_cut_back(opened: Opener, tmp_path: Path) -> None:
    session = opened()
    for number in range(500):
        session.change(0, f"step {number}", session.card.with_score("correctness", number % 100))
    session.close()
    again = opened()
    assert len(again.changes) in (400, 500)
    again.close()
    third = opened()
    assert len(third.changes) == 200
    third.undo()
    assert third.card.score("correctness") == 98


def test_of_two_windows_on_a_card_one_keeps_the_history(opened: Opener) -> None:
    first = opened()
    first.digit("8")
    first.flush()
    second = opened()
    assert second.card.score("correctness") == 8
    assert second.undo() is None


def journal_of(session: Session, index: int = 0) -> Path:
    return rescue.place(session.paths[index], "history", ".jsonl")


@pytest.mark.parametrize("cut", [1, 5])
def test_what_follows_a_line_that_was_cut_off_is_remembered(opened: Opener, cut: int) -> None:
    session = opened()
    session.digit("8")
    session.seal()
    session.close()
    journal = journal_of(session)
    journal.write_bytes(journal.read_bytes()[:-cut])
    again = opened()
    again.set_text("later", index=0, row=again.rows[0])
    again.set_text("much later", index=0, row=again.rows[1])
    again.close()
    third = opened()
    third.undo()
    third.undo()
    assert third.card.comment("correctness") == ""
    assert third.card.score("correctness") == 8
    assert third.undo() is not None


@pytest.mark.parametrize(
    "line",
    [
        '{"op": "do", "at": 1, "card": 5}',
        '{"op": "do", "at": 1, "card": "by hand ="}',
        '{"op": "undo", "at": "x"}',
        '{"op": "undo", "at": NaN}',
        '{"op": "undo"}',
        '{"op": ["undo"], "at": 1}',
        '{"op": "do", "at": 1, "label": 5}',
        '{"op": "do", "at": 1, "merge": "x"}',
        '{"op": "undo", "at": 1' + 400 * "0" + "}",
        "5",
        "[" * 100_000,
        "",
    ],
)
def test_a_line_that_is_wrong_costs_itself_alone(opened: Opener, line: str) -> None:
    session = opened()
    session.digit("8")
    session.set_text("later", index=0, row=session.rows[0])
    session.close()
    journal = journal_of(session)
    lines = journal.read_text().splitlines()
    journal.write_text("\n".join([*lines[:2], line, *lines[2:]]) + "\n")
    again = opened()
    assert again.card.comment("correctness") == "later"
    again.undo()
    assert (again.card.comment("correctness"), again.card.score("correctness")) == ("", 8)
    again.undo()
    assert again.card.score("correctness") is None
    assert line not in journal.read_text().splitlines()


def test_a_card_is_opened_as_it_is_on_disk_with_all_that_is_stamped(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.undo()
    session.redo()
    session.close()
    path = session.paths[0]
    card = load_scorecard(path)
    seen = CheckSeen("accuracy", "fail")
    save_scorecard(path, replace(card, submission="sha256:other", checks=(seen,)), FileStamp.at(path))
    again = opened()
    assert (again.card.submission, again.card.checks) == ("sha256:other", (seen,))
    again.undo()
    again.redo()
    assert again.card.checks == (seen,)


def test_a_grade_that_was_given_elsewhere_stays_and_is_a_step(opened: Opener) -> None:
    session = opened()
    session.digit("8")
    session.close()
    path = session.paths[0]
    save_scorecard(path, load_scorecard(path).with_grade("A"), FileStamp.at(path))
    again = opened()
    again.set_text("fine", index=0, row=again.rows[0])
    again.flush()
    assert load_scorecard(path).grade == "A"
    assert [again.undo() for _ in range(3)] == ["A: Correctness comment", "A: Correctness score, 8 → –", None]
    assert again.card.grade == "A"
    assert again.undo(theirs=True) == "A: as it was found on disk"
    assert (again.card.grade, again.card.score("correctness")) == (None, None)
