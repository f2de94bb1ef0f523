"""One order of undo over all that a judge writes in a comparison: its scorecards, and its open matchups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from judge_tui.tui.desk.changes import Changes

if TYPE_CHECKING:
    from judge_tui.judging.versions import Differing

__all__ = ["Written", "redoes", "undoes"]


class Written(Struct, frozen=True):
    """Documents with a history of their own.

    Attributes:
        changes: What was done to them.
        undo: Takes the last change back; what it was, or ``None``. ``theirs``: what was written elsewhere.
        redo: Brings the last undone change back; what it was, or ``None``.
        differing: Of a document that was changed elsewhere, as it is and as it was before: what it is called,
            and what the two say differently.
        about: What is told before the words for a change.
    """

    changes: Changes[Any]
    undo: Callable[..., str | None]
    redo: Callable[[], str | None]
    differing: Callable[[int, Any, Any], tuple[str, Iterable[Differing]]]
    about: str = ""


def undoes(written: Sequence[Written]) -> Written:
    """Those whose change was made last: here, or where none was made here, anywhere.

    Args:
        written: All that there are; the first where nothing was changed.
    """
    return max(written, key=lambda one: one.changes.undoes_at)


def redoes(written: Sequence[Written]) -> Written | None:
    """Those whose change was undone last; ``None`` where something was changed since."""
    last = max(written, key=lambda one: one.changes.redoes_at)
    made = max(one.changes.made_at for one in written)
    return last if last.changes.redoes_at > made else None
