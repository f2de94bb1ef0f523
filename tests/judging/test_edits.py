from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from judge_tui.judging.edits import EditLog
from judge_tui.judging.scorecard import Scorecard

CARD = Scorecard(task="kv", model="glm5", judge="anna")


@given(st.lists(st.tuples(st.sampled_from("abc"), st.none() | st.integers(0, 100)), max_size=12))
def test_undoing_everything_and_redoing_it_gives_the_same_cards(
    changes: list[tuple[str, int | None]],
) -> None:
    log = EditLog(CARD)
    for name, score in changes:
        log = log.apply(f"{name} {score}", log.card.with_score(name, score))
    last, steps = log.card, len(log.past)
    for _ in range(steps):
        log = log.undo()
    assert log.card == CARD
    assert log.undo() == log
    for _ in range(steps):
        log = log.redo()
    assert log.card == last
    assert log.redo() == log


def test_labels_say_what_would_be_undone_and_redone() -> None:
    log = EditLog(CARD).apply("Correctness 85", CARD.with_score("correctness", 85))
    assert (log.undo_label, log.redo_label) == ("Correctness 85", None)
    assert (log.undo().undo_label, log.undo().redo_label) == (None, "Correctness 85")


def test_a_change_that_changes_nothing_leaves_no_trace() -> None:
    assert EditLog(CARD).apply("nothing", CARD.with_summary("")).past == ()


def test_a_new_change_ends_what_could_be_redone() -> None:
    log = EditLog(CARD).apply("a", CARD.with_score("a", 1)).undo()
    assert log.apply("b", CARD.with_score("b", 2)).future == ()


def test_typing_is_undone_in_one_step_and_typing_back_leaves_no_step() -> None:
    log = EditLog(CARD)
    for text in ("f", "fi", "fin"):
        log = log.apply("summary", log.card.with_summary(text), merge=True)
    assert len(log.past) == 1
    assert log.undo().card == CARD
    assert log.apply("summary", CARD, merge=True).past == ()
    other = log.apply("grade", log.card.with_grade("A"), merge=True)
    assert len(other.past) == 2
