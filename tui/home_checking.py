"""What Home says of a ``check`` that is under way elsewhere: how far it is, and when to read again."""

from __future__ import annotations

import asyncio
from pathlib import Path

__all__ = ["HomeChecking"]

#: Looks between two times that what was found is read again while more is coming.
_READ_AGAIN = 5


class HomeChecking:
    """Follows a run by what it writes down.

    Args:
        root: The workspace.

    Attributes:
        told: How far it is, in a few words; empty without any.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self.told = ""
        self._done = 0
        self._looks = 0

    async def look(self) -> bool:
        """Look once; whether there may be more verdicts than were read."""
        from judge_tui.judging import under_way

        found = await asyncio.to_thread(under_way.read, self._root)
        if found is None:
            ended, self.told, self._done, self._looks = bool(self.told), "", 0, 0
            return ended
        self.told = str(found)
        self._looks += 1
        more = found.done != self._done and self._looks % _READ_AGAIN == 0
        self._done = found.done if more else self._done
        return more
