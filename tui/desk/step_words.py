"""Changes of scorecards and matchups in words, as undo tells them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note

if TYPE_CHECKING:
    from judge_tui.judging.matchup import Matchup

__all__ = ["DELETED", "WRITTEN", "described", "described_matchup"]

#: What the change is called that deletes a note.
DELETED = "delete note"
#: What the writing of a criterion is called while it lasts.
WRITTEN = "criterion"


def _called(note: Note) -> str:
    return f"{note.kind} note on {note.where or 'the whole submission'}"


def described(label: str, before: Scorecard, after: Scorecard) -> str:
    """A step in words: where its note stands, or what its score was and is."""
    if label == DELETED:
        one_sided = {note.id for note in before.notes} ^ {note.id for note in after.notes}
        gone = [note for note in (*before.notes, *after.notes) if note.id in one_sided]
        return f"delete {_called(gone[0])}" if len(gone) == 1 else label
    for note in (*after.notes, *before.notes):
        if label.endswith(f" note {note.id}"):
            return _called(note)
    if not label.endswith(" score") and label != "overall":
        return label
    scores = [(before.score(name), after.score(name)) for name in {**before.scores, **after.scores}]
    changed = [(was, now) for was, now in (*scores, (before.overall, after.overall)) if was != now]
    if len(changed) == 1:
        was, now = ("–" if score is None else score for score in changed[0])
        return f"{label}, {was} → {now}"
    return label


def described_matchup(label: str, before: Matchup, after: Matchup, who: Callable[[str | None], str]) -> str:
    """A step in words: the criterion that was written, or who was ahead, by how much, and is."""
    if label.startswith(("winner", "no winner")) and before.winner != after.winner:
        return f"{label}, {who(before.winner)} → {who(after.winner)}"
    if label.startswith(("margin", "no margin")) and before.margin != after.margin:
        was, now = ("–" if margin is None else margin for margin in (before.margin, after.margin))
        return f"{label}, {was} → {now}"
    if label.startswith("edge of ") and len(before.criteria) == len(after.criteria):
        both = zip(before.criteria, after.criteria, strict=True)
        edges = [(one.edge, other.edge) for one, other in both if one.edge != other.edge]
        return f"{label}, {who(edges[0][0])} → {who(edges[0][1])}" if len(edges) == 1 else label
    if label != WRITTEN:
        return label
    changed = (
        one
        for one in (*after.criteria, *before.criteria)
        if one not in after.criteria or one not in before.criteria
    )
    return next((f"{label} {one.name}" for one in changed if one.name), label)
