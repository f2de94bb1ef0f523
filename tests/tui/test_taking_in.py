"""A window with nothing unsaved takes in what another one saves."""

from __future__ import annotations

from judge_tui.judging.scorecard import load_scorecard

from .conftest import Opener, Reports
from .test_conflicts import MARKERS


def test_a_card_that_another_window_has_saved_is_taken_in_as_a_step(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    assert not second.take_in(0)
    for window, digit, score in ((first, "7", 7), (second, "9", 9)):
        # nothing was unsaved in either: no conflict arises from going on
        window.keypad.reset()
        window.digit(digit)
        window.take_score()
        window.flush()
        other = second if window is first else first
        assert (other.take_in(0), other.take_in(0), window.take_in(0)) == (True, False, False)
        assert (other.card.score("correctness"), other.unsaved()) == (score, ())
    # what was typed here was written over: its undo would take back what the other window says
    assert first.undo() is None
    assert first.undo(theirs=True) == "A: as it was found on disk"
    first.flush()
    assert load_scorecard(first.paths[0]).score("correctness") == 7
    assert second.take_in(0)
    first.redo()
    assert first.card.score("correctness") == 9
    assert all(report.state == "saved" for report in reports.all)
    first.close()
    again = opened()
    again.undo(theirs=True)
    assert again.card.score("correctness") == 7


def test_a_card_that_says_the_same_is_no_step_and_is_written_over(opened: Opener, reports: Reports) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.take_in(0)
    first.set_text("words", index=0, row=first.rows[0])
    first.undo()
    first.flush()
    steps = len(second.changes)
    assert (second.take_in(0), len(second.changes)) == (False, steps)
    second.digit("9")
    second.flush()
    assert all(report.state == "saved" for report in reports.all)


def test_what_another_window_types_is_one_step_and_no_redo_is_forgotten_for_it(opened: Opener) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.take_in(0)
    steps = len(second.changes)
    for text in ("a", "a word", "a word more"):
        first.set_text(text, index=0, row=first.rows[0])
        first.flush()
        assert second.take_in(0)
    assert len(second.changes) == steps
    assert second.undo() is None
    second.undo(theirs=True)
    second.flush()
    first.take_in(0)
    first.focus_row(1)
    first.digit("8")
    first.flush()
    assert second.take_in(0)
    assert second.redo() is not None
    # made again, it is beside what the other window says
    second.flush()
    assert first.take_in(0)
    for window in (first, second):
        assert (window.card.comment("correctness"), window.card.score(first.rows[1].id)) == ("a word more", 8)


def test_what_was_undone_and_then_changed_elsewhere_is_not_made_again(opened: Opener) -> None:
    first, second = opened(), opened()
    second.digit("7")
    second.set_text("mine", index=0, row=second.rows[1])
    second.undo()
    second.undo()
    second.flush()
    first.take_in(0)
    first.set_text("theirs", index=0, row=first.rows[1])
    first.flush()
    assert second.take_in(0)
    assert second.redo() is not None
    assert second.card.score("correctness") == 7
    assert second.redo() is None
    assert second.card.comment(second.rows[1].id) == "theirs"  # type: ignore[union-attr]


def test_what_a_change_of_another_card_has_put_out_of_reach_stays_so(opened: Opener) -> None:
    first, second = opened(), opened()
    second.set_text("mine", index=0, row=second.rows[1])
    second.undo()
    second.score_now(1)
    second.digit("5")
    second.flush()
    first.take_in(0)
    first.set_text("theirs", index=0, row=first.rows[1])
    first.flush()
    assert second.take_in(0)
    assert second.redo() is None
    assert second.changes[0].comment(second.rows[1].id) == "theirs"  # type: ignore[union-attr]


def test_a_score_typed_over_another_waits_on_while_a_card_is_taken_in(opened: Opener) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.take_in(0)
    second.keypad.reset()
    second.digit("9")
    for row, stands in ((1, 7), (0, 4)):
        first.focus_row(row)
        first.digit("4")
        first.take_score()
        first.flush()
        assert second.take_in(0)
        assert (second.score, second.typed_over, second.asks_over) == (stands, 9, True)
    second.take_score()
    assert second.card.score("correctness") == 9


def test_a_half_typed_score_is_not_broken_off_by_another_card(opened: Opener) -> None:
    first, second = opened(), opened()
    first.score_now(1)
    first.digit("7")
    first.flush()
    second.digit("8")
    assert second.take_in(1)
    second.digit("5")
    assert second.card.score("correctness") == 85


def test_unsaved_work_and_what_cannot_be_read_or_is_gone_are_left_to_the_next_save(
    opened: Opener, reports: Reports
) -> None:
    first, second = opened(), opened()
    first.digit("7")
    first.flush()
    second.digit("9")
    second.flush()
    reports.wait_for("conflict")
    assert (second.take_in(0), second.card.score("correctness"), second.unsaved()) == (False, 9, (0,))
    first.paths[0].write_bytes(MARKERS)
    assert (first.take_in(0), first.card.score("correctness")) == (False, 7)
    first.paths[0].unlink()
    assert (first.take_in(0), first.card.score("correctness")) == (False, 7)
