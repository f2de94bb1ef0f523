"""Leaving a comparison: once everything is kept, or the judge says that it may be lost."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from textual.screen import Screen

from judge_tui.tui.keys.bound_keys import key_for
from judge_tui.tui.screens.comparing.placing import Placing
from judge_tui.tui.screens.comparing.saving import Saving
from judge_tui.tui.screens.question import LeaveQuestion
from judge_tui.tui.session import Session

__all__ = ["leave"]


async def leave(
    screen: Screen[None], session: Session, saving: Saving, placing: Placing, way: Callable[[], object]
) -> None:
    """Leave in some way once everything is kept, or the judge says that it may be lost.

    Args:
        screen: Where it is asked.
        session: What is kept.
        saving: Knows what is not saved.
        placing: Is still finding out where notes are, maybe.
        way: How to leave.
    """
    await placing.found()
    if session.unsaved():
        await asyncio.to_thread(session.flush)
    if session.lost():
        reasons = map(session.hide, saving.failed.values())
        reason = next(reasons, "The scorecard cannot be written.")
        _ask(screen, f"{reason} Nor could it be kept elsewhere: leaving now loses it.", way)
    elif saving.conflicts.intersection(session.unsaved()):
        # what is on disk is settled, though the report of that may still be on its way
        key = key_for(screen, "settle")
        _ask(
            screen,
            "Another window or program has changed what is judged here as well: what you see is kept "
            f"beside it, and asked about at the next start. {key} settles it now.",
            way,
        )
    else:
        way()


def _ask(screen: Screen[None], why: str, way: Callable[[], object]) -> None:
    def answered(answer: str | None) -> None:
        if answer == "leave":
            way()

    screen.app.push_screen(LeaveQuestion(why), answered)
