"""Whose turn it is on each thread of a test: who is asked may ask back before answering."""

from __future__ import annotations

from enum import StrEnum

from judge_tui.checks.worker.border.messages import DEEPEST

__all__ = ["OutOfTurnError", "Party", "Turns"]

#: A jail that counts right never comes so far.
_SLACK = 4


class Party(StrEnum):
    """Who runs a jail."""

    AUTHOR = "author"
    SUBMISSION = "submission"

    @property
    def other(self) -> Party:
        """The other one."""
        return Party.SUBMISSION if self is Party.AUTHOR else Party.AUTHOR


class OutOfTurnError(Exception):
    """A message that its sender may not send now."""


class Turns:
    """Open asks by thread."""

    def __init__(self) -> None:
        self._open: dict[int, list[Party]] = {}

    @property
    def threads(self) -> int:
        """On how many threads something is open."""
        return len(self._open)

    @property
    def inside(self) -> bool:
        """Whether the submission has the turn on some thread."""
        return any(asked[-1] is Party.AUTHOR for asked in self._open.values())

    def holder(self, thread: int) -> Party:
        """Who may speak on a thread."""
        if asked := self._open.get(thread):
            return asked[-1].other
        return Party.SUBMISSION if thread % 2 else Party.AUTHOR

    def ask(self, party: Party, thread: int) -> None:
        """Somebody asks.

        Raises:
            OutOfTurnError: It may not.
        """
        if self.holder(thread) is not party:
            raise OutOfTurnError("spoke on a thread on which the other side has the turn")
        if (asked := self._open.get(thread)) is None:
            asked = self._open[thread] = []
        if len(asked) > DEEPEST + _SLACK:
            raise OutOfTurnError(f"nests calls more than {DEEPEST} deep")
        asked.append(party)

    def answer(self, party: Party, thread: int) -> None:
        """Somebody answers.

        Raises:
            OutOfTurnError: Nobody asked it.
        """
        asked = self._open.get(thread)
        if not asked or asked[-1].other is not party:
            raise OutOfTurnError("answered what nobody asked")
        asked.pop()
        if not asked:
            del self._open[thread]

    def waits(self, party: Party, thread: int) -> bool:
        """Whether somebody waits for an answer on a thread."""
        asked = self._open.get(thread)
        return bool(asked) and asked[-1] is party  # type: ignore[index]

    def waiting(self, party: Party) -> list[int]:
        """Threads on which somebody waits for an answer."""
        return [thread for thread in self._open if self.waits(party, thread)]

    def drop(self, thread: int) -> None:
        """Forget what is open on a thread."""
        self._open.pop(thread, None)
