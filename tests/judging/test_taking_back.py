"""A change is taken back from under others, or not at all where they have changed the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from judge_tui.judging.card import CellVerdict, CheckSeen, Scorecard
from judge_tui.judging.note import new_note
from judge_tui.judging.taking_back import taken_back

NOTES = [new_note("bug", text) for text in ("one", "two", "three", "four")]
CARD = Scorecard("kv", "alpha", "anna", notes=tuple(NOTES[:3])).with_score("correctness", 80)
Change = Callable[[Scorecard], Scorecard]
#: Changes of different things.
CHANGES: dict[str, Change] = {
    "score": lambda card: card.with_score("correctness", 90),
    "unscored": lambda card: card.with_score("tests", 70),
    "comment": lambda card: card.with_comment("correctness", "fine"),
    "overall": lambda card: card.with_overall(50),
    "reason": lambda card: card.with_overall(card.overall, "why"),
    "grade": lambda card: card.with_grade("B"),
    "summary": lambda card: card.with_summary("short"),
    "verdict": lambda card: replace(card, verdict=CellVerdict("bug")),
    "added": lambda card: card.with_note(NOTES[3]),
    "deleted": lambda card: card.without_note(NOTES[1].id),
    "reworded": lambda card: card.with_note(replace(NOTES[0], text="other")),
}


@given(st.lists(st.sampled_from(sorted(CHANGES)), min_size=1, unique=True))
def test_without_the_first_change_the_card_is_as_if_it_had_never_been_made(names: list[str]) -> None:
    first, *others = names
    after = CHANGES[first](CARD)
    now, wanted = after, CARD
    for name in others:
        now, wanted = CHANGES[name](now), CHANGES[name](wanted)
    found = taken_back(CARD, after, now)
    assert found is not None
    # a note that was written meanwhile stands behind
    assert {note.id: note for note in found.notes} == {note.id: note for note in wanted.notes}
    for name in ("dimensions", "overall", "overall_reason", "grade", "summary", "verdict"):
        assert getattr(found, name) == getattr(wanted, name)


@pytest.mark.parametrize(
    ("own", "theirs"),
    [
        (lambda c: c.with_score("tests", 70), lambda c: c.with_score("tests", 60)),
        (lambda c: c.with_score("tests", 70), lambda c: c.with_score("tests", None)),
        (lambda c: c.with_comment("tests", "a"), lambda c: c.with_comment("tests", "b")),
        (lambda c: c.with_overall(50), lambda c: c.with_overall(None)),
        (lambda c: replace(c, verdict=CellVerdict("bug")), lambda c: replace(c, verdict=None)),
        (lambda c: c.with_note(NOTES[3]), lambda c: c.without_note(NOTES[3].id)),
        (lambda c: c.without_note(NOTES[0].id), lambda c: c.with_note(NOTES[0])),
    ],
)
def test_what_was_changed_again_since_is_not_taken_back(own: Change, theirs: Change) -> None:
    after = own(CARD)
    assert taken_back(CARD, after, theirs(after)) is None


def test_a_deleted_note_comes_back_where_it_was() -> None:
    after = CARD.without_note(NOTES[1].id)
    found = taken_back(CARD, after, after.with_note(NOTES[3]))
    assert found is not None
    assert found.notes == tuple(NOTES)
    after = CARD.without_note(NOTES[0].id)
    found = taken_back(CARD, after, after.without_note(NOTES[1].id))
    assert found is not None
    assert found.notes == (NOTES[0], NOTES[2])


def test_the_files_that_scores_are_about_come_back_unless_others_have_scored_since() -> None:
    seen = (CheckSeen("accuracy", "fail"),)
    after = CARD.with_score("tests", 70).with_checks(seen)
    noted, scored = after.with_note(NOTES[3]), after.with_score("correctness", 10)
    for now, checks in ((noted, ()), (scored, seen)):
        found = taken_back(CARD, after, now)
        assert found is not None
        assert found.checks == checks
