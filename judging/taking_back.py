"""A change of a scorecard taken back from under those that came after it, which stay."""

from __future__ import annotations

from msgspec.structs import replace

from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note

__all__ = ["taken_back"]

_WORDS = ("overall", "overall_reason", "grade", "summary", "verdict")


def taken_back(before: Scorecard, after: Scorecard, now: Scorecard) -> Scorecard | None:
    """The card as it is now without an earlier change of it.

    Args:
        before: The card before that change.
        after: The card right after it.
        now: The card as it is now, others having changed it since.

    Returns:
        The card, or ``None`` where what that change has changed was changed again since.
    """
    card = now
    for name in _WORDS:
        was, said = getattr(before, name), getattr(after, name)
        if was != said:
            if getattr(now, name) != said:
                return None
            card = replace(card, **{name: was})
    for name in {**before.dimensions, **after.dimensions}:
        if before.score(name) != after.score(name):
            if now.score(name) != after.score(name):
                return None
            card = card.with_score(name, before.score(name))
        if before.comment(name) != after.comment(name):
            if now.comment(name) != after.comment(name):
                return None
            card = card.with_comment(name, before.comment(name))
    notes = _notes_back(before, after, now)
    if notes is None:
        return None
    if (now.given, now.grade) == (after.given, after.grade) and now.submission == after.submission:
        # nobody has scored since: what the scores are about is what it was
        card = replace(card, rubric=before.rubric, submission=before.submission, checks=before.checks)
    return replace(card, notes=notes)


def _notes_back(before: Scorecard, after: Scorecard, now: Scorecard) -> tuple[Note, ...] | None:
    """The notes as they are now without a change of some; one that was deleted stands where it was."""
    was, said = ({note.id: note for note in card.notes} for card in (before, after))
    notes = {note.id: note for note in now.notes}
    for name in {**was, **said}:
        if was.get(name) == said.get(name):
            continue
        if notes.get(name) != said.get(name):
            return None
        if name not in was:
            del notes[name]
        elif name in said:
            notes[name] = was[name]
        else:
            order = [*was]
            ahead = [other for other in order[: order.index(name)] if other in notes]
            at = [*notes].index(ahead[-1]) + 1 if ahead else 0
            listed = list(notes.items())
            notes = dict([*listed[:at], (name, was[name]), *listed[at:]])
    return tuple(notes.values())
