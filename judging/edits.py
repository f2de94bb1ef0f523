"""Undo and redo over what a judge writes, a scorecard or a matchup, as plain values."""

from __future__ import annotations

from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace

__all__ = ["Edit", "EditLog"]

Value = TypeVar("Value")

#: Ends the label of a change that nothing is joined with any more; it takes no room on a screen.
_SEAL = "\u200b"


class Edit(Struct, Generic[Value], frozen=True):
    """One change: what it is called, and the card before and after it."""

    label: str
    before: Value
    after: Value

    @property
    def name(self) -> str:
        """What it is called, without the seal."""
        return self.label.rstrip(_SEAL)


class EditLog(Struct, Generic[Value], frozen=True):
    """A card (or another value) with the changes that led to it and those that were undone.

    Attributes:
        card: The present card.
        past: Changes that undo takes back, oldest first.
        future: Changes that redo brings back, next one last.
    """

    card: Value
    past: tuple[Edit[Value], ...] = ()
    future: tuple[Edit[Value], ...] = ()

    def apply(self, label: str, after: Value, *, merge: bool = False) -> EditLog[Value]:
        """The log after a change; a change that changes nothing leaves no trace.

        Args:
            label: What undo will call it (``"Correctness 85"``).
            after: The changed card.
            merge: Join the change with the last one when that has the same label, as while typing.
        """
        if after == self.card:
            return self
        last = self.past[-1] if self.past else None
        if merge and last is not None and last.label == label and not self.future:
            joined = replace(last, after=after)
            return EditLog(after, (*self.past[:-1], *(() if joined.before == after else (joined,))))
        return EditLog(after, (*self.past, Edit(label, self.card, after)))

    def undo(self) -> EditLog[Value]:
        """The log one change earlier; the same when there is none."""
        if not self.past:
            return self
        last = self.past[-1]
        return EditLog(last.before, self.past[:-1], (*self.future, last))

    def redo(self) -> EditLog[Value]:
        """The log with the last undone change again; the same when there is none."""
        if not self.future:
            return self
        following = self.future[-1]
        return EditLog(following.after, (*self.past, following), self.future[:-1])

    def sealed(self) -> EditLog[Value]:
        """The log with its last change closed: a later one of the same label is a change of its own."""
        if not self.past or self.past[-1].label.endswith(_SEAL):
            return self
        last = self.past[-1]
        return replace(self, past=(*self.past[:-1], replace(last, label=last.label + _SEAL)))

    def sunk(self, depth: int, label: str, now: Value) -> EditLog[Value]:
        """The log with an earlier change undone from under those after it, which become one.

        Args:
            depth: Which change: 2 is the last but one.
            label: What those after it are called.
            now: The present card without that change.
        """
        own = self.past[-depth]
        others = Edit(label, own.before, now)
        return EditLog(now, (*self.past[:-depth], others), (*self.future, Edit(own.label, now, self.card)))

    def preceded(self, past: tuple[Edit[Value], ...]) -> EditLog[Value]:
        """The log with changes before its own."""
        return replace(self, past=(*past, *self.past))

    def restated(self, card: Value) -> EditLog[Value]:
        """The log with its present card as it was found elsewhere; no change of its own."""
        past, future = self.past, self.future
        past = (*past[:-1], replace(past[-1], after=card)) if past else past
        future = (*future[:-1], replace(future[-1], before=card)) if future else future
        return EditLog(card, past, future)

    @property
    def undo_label(self) -> str | None:
        """What undo would take back."""
        return self.past[-1].name if self.past else None

    @property
    def redo_label(self) -> str | None:
        """What redo would bring back."""
        return self.future[-1].name if self.future else None
