"""A bracketed paste: gathered from what a terminal sends, and told as plain text.

Coloured output of a terminal is a normal thing to copy. Its escape sequences stand in the paste with the
byte that also ends the paste, and they are no part of a judge's text. Nor is what turns the order of letters
round; what joins emoji is.
"""

from __future__ import annotations

import re

__all__ = ["PASTE_END", "Pasting", "plain"]

PASTE_END = "\x1b[201~"
#: A paste in which so few characters arrive in this time has lost its end.
_SLOW = 1000
_PATIENCE_S = 10.0

_NEW_LINE = re.compile("\r\n?|[\u2028\u2029]")
_CONTROL = re.compile(
    # colours, the cursor
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*(?:[@-~]|\Z)"
    # titles, links, pictures: up to their terminator
    r"|(?:\x1b[]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"
    # character sets, and all that is two or three characters long
    r"|\x1b[ -/]*[0-~]"
    r"|[\x00-\x08\x0b-\x1f\x7f-\x9f]"
    # the order of letters; bytes that are no text
    r"|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u206f\ufff9-\ufffb\ud800-\udfff]"
)


def plain(text: str) -> str:
    """A text without escape sequences and control characters, those of bidi too; newlines and tabs stay."""
    return _CONTROL.sub("", _NEW_LINE.sub("\n", text))


class Pasting:
    """A paste that has begun.

    Args:
        now: When that was, in seconds.
    """

    def __init__(self, now: float) -> None:
        self._parts: list[str] = []
        self._tail = ""
        self._counted_from, self._count = now, 0

    def take(self, data: str) -> str | None:
        """Take in what arrives; what comes behind the end of the paste, None as long as it goes on."""
        self._count += len(data)
        # the end may arrive in pieces
        data = self._tail + data
        text, end, rest = data.partition(PASTE_END)
        if end:
            self._parts.append(text)
            self._tail = ""
            return rest
        cut = max(0, len(data) - len(PASTE_END) + 1)
        self._parts.append(data[:cut])
        self._tail = data[cut:]
        return None

    def stalls(self, now: float) -> bool:
        """Whether so little has come for so long that no end is to be expected."""
        if now - self._counted_from < _PATIENCE_S:
            return False
        slow = self._count < _SLOW
        self._counted_from, self._count = now, 0
        return slow

    @property
    def text(self) -> str:
        """What has come so far, as plain text."""
        return plain("".join(self._parts) + self._tail)
