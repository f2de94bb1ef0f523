"""Changes of scorecards in words, as undo tells them."""

from __future__ import annotations

from judge_tui.judging.card import Scorecard
from judge_tui.judging.note import Note

__all__ = ["DELETED", "described"]

#: What the change is called that deletes a note.
DELETED = "delete note"


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
