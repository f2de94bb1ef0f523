"""Undo by a key: what was changed here is taken back; what was changed elsewhere, once the judge says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.judging.versions import Differing, card_differences
from judge_tui.tui.desk.changes import Changes
from judge_tui.tui.session import Session, letter_of

__all__ = ["undo", "undo_cards"]


class Undo(Protocol):
    """How a change is taken back: what it was, or ``None``."""

    def __call__(self, *, theirs: bool = False) -> str | None: ...


def undo(
    screen: Screen[Any],
    changes: Changes[Any],
    take: Undo,
    ask: Callable[[int, Any, Any], tuple[str, Iterable[Differing]]],
    told: Callable[[str | None], None],
) -> None:
    """Take the last change back that was made here, or ask about the one that stands in its way.

    Args:
        screen: What the key was pressed on.
        changes: What was done.
        take: Takes a change back.
        ask: Of a document that was changed elsewhere, as it is and as it was before: what it is called, and
            what the two say differently, as it may be shown.
        told: Tells what was taken back.
    """
    from judge_tui.tui.screens.question import TheirsQuestion

    label = take()
    index = changes.foreign() if label is None else None
    if index is None:
        told(label)
        return
    what, differing = ask(index, changes[index], changes.before_foreign(index))

    def answered(answer: str | None) -> None:
        if answer:
            told(take(theirs=True))

    screen.app.push_screen(TheirsQuestion(what, over=changes.owns, differences=tuple(differing)), answered)


def undo_cards(screen: Screen[Any], session: Session, told: Callable[[str | None], None]) -> None:
    """:func:`undo` for the scorecards of a comparison."""

    def ask(index: int, now: Any, before: Any) -> tuple[str, Iterable[Differing]]:
        hide = session.hide
        found = card_differences(now, before, session.rubric)
        covered = (replace(o, what=hide(o.what), here=hide(o.here), there=hide(o.there)) for o in found)
        return f"{letter_of(index)} {session.titles[index]}", covered

    undo(screen, session.changes, session.undo, ask, told)
