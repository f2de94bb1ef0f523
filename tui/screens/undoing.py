"""Undo by a key, in the order of doing over scorecards and matchups, wherever it is pressed.

What was changed here is taken back; what was changed elsewhere, once the judge says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace
from textual.screen import Screen

from judge_tui.judging.versions import Differing, card_differences
from judge_tui.tui.desk.turns import Written, redoes, undoes
from judge_tui.tui.session import Session, letter_of

if TYPE_CHECKING:
    from judge_tui.tui.desk.matchup_desk import MatchupDesk

__all__ = ["redo", "undo"]


def undo(
    screen: Screen[Any],
    session: Session,
    told: Callable[[str | None], None],
    here: MatchupDesk | None = None,
) -> None:
    """Take the last change back that was made here, or ask about the one that stands in its way.

    Args:
        screen: What the key was pressed on.
        session: Whose cards and matchups they are.
        told: Tells what was taken back, if anything was.
        here: The matchup in view, if one is.
    """
    from judge_tui.tui.screens.question import TheirsQuestion

    written = undoes(_all_written(session, here))
    changes, label = written.changes, written.undo()
    index = changes.foreign() if label is None else None
    if index is None:
        told(_said(written, label))
        return
    what, differing = written.differing(index, changes[index], changes.before_foreign(index))
    hide = session.hide
    covered = (replace(o, what=hide(o.what), here=hide(o.here), there=hide(o.there)) for o in differing)

    def answered(answer: str | None) -> None:
        if answer:
            told(_said(written, written.undo(theirs=True)))

    screen.app.push_screen(TheirsQuestion(what, over=changes.owns, differences=tuple(covered)), answered)


def redo(session: Session, here: MatchupDesk | None = None) -> str | None:
    """Bring the last undone change back; what it was, or ``None``.

    Args:
        session: Whose cards and matchups they are.
        here: The matchup in view, if one is.
    """
    written = redoes(_all_written(session, here))
    return _said(written, written.redo()) if written is not None else None


def _said(written: Written, label: str | None) -> str | None:
    return f"{written.about}{label}" if label else None


def _all_written(session: Session, here: MatchupDesk | None) -> list[Written]:
    """All that can be taken back, what is in view first."""

    def cards_differ(index: int, now: Any, before: Any) -> tuple[str, Iterable[Differing]]:
        found = card_differences(now, before, session.rubric)
        return f"{letter_of(index)} {session.titles[index]}", found

    cards = Written(session.changes, session.undo, session.redo, cards_differ)
    matchups = [_written(session, desk, here) for desk in session.matchups.values()]
    return [*matchups, cards] if here is not None else [cards, *matchups]


def _written(session: Session, desk: MatchupDesk, here: MatchupDesk | None) -> Written:
    """What was written of a matchup."""
    from judge_tui.judging.versions import matchup_differences
    from judge_tui.tui.widgets.matchup_rows import seats_of, who

    called = partial(who, session)
    *others, last = map(letter_of, seats_of(session, desk))
    name = f"matchup of {', '.join(others)} and {last}"

    def differ(_: int, now: Any, before: Any) -> tuple[str, Iterable[Differing]]:
        return "This matchup" if desk is here else f"The {name}", matchup_differences(now, before, called)

    short = partial(called, short=True)
    about = "" if desk is here else f"{name}: "
    return Written(desk.changes, partial(desk.undo, short), partial(desk.redo, short), differ, about)
