"""What has become of the lines of a text: those whose way is certain, however the texts are compared."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property

from judge_tui.judging.text_index import TextIndex

__all__ = ["Earlier", "Pairs"]

#: Finds pairs of equal lines of two texts, 0-based, in the order of both.
Pairs = Callable[[Sequence[str], Sequence[str]], Sequence[tuple[int, int]]]

#: Other threads get their turn after so many lines.
_TURN = 0x3FF


class Earlier:
    """A text as it was when the lines of a note were certain, and what has become of its lines.

    A comparison may pair a line that is gone with one of its like. It does so in another way from the end
    than from the beginning: what both ways say is certain.

    Args:
        old: The text as it was.
        new: The text as it is.
        pairs: Compares two texts.

    Attributes:
        index: The text as it was.
    """

    def __init__(self, old: TextIndex, new: TextIndex, pairs: Pairs) -> None:
        self.index = old
        ours, theirs = old.said, new.said
        least = min(len(ours), len(theirs))
        head, tail = _head(ours, theirs, least), _tail(ours, theirs, least)
        #: Lines at the beginning and at the end whose way is certain. Where both stretches overlap, what
        #: stands in both of them has two ways.
        self._head, self._tail = min(head, least - min(tail, least)), min(tail, least - min(head, least))
        if head + tail <= least:
            self._head, self._tail = head, tail
        self._old, self._new = len(ours), len(theirs)
        self._to: dict[int, int] = {}
        if head + tail < least:
            left, right = ours[head : len(ours) - tail], theirs[head : len(theirs) - tail]
            self._pair(left, right, head, pairs)
        self._since = {now: before for before, now in self._to.items()}

    def _pair(self, left: Sequence[str], right: Sequence[str], head: int, pairs: Pairs) -> None:
        forth = dict(pairs(left, right))
        last, end = len(left) - 1, len(right) - 1
        for number, (a, b) in enumerate(pairs(left[::-1], right[::-1])):
            if not number & _TURN:
                time.sleep(0)
            if forth.get(last - a) == end - b:
                self._to[head + last - a] = head + end - b

    def to(self, line: int) -> int | None:
        """The line that an old one is now; ``None`` where that is not certain."""
        if 0 <= line < self._head:
            return line
        if self._old - self._tail <= line < self._old:
            return line + self._new - self._old
        return self._to.get(line)

    def since(self, line: int) -> int | None:
        """The line that one was before; ``None`` where that is not certain."""
        if 0 <= line < self._head:
            return line
        if self._new - self._tail <= line < self._new:
            return line - self._new + self._old
        return self._since.get(line)

    @cached_property
    def akin(self) -> bool:
        """Whether enough is left of it that the text of now is the same file, and none of its name."""
        index = self.index
        kept = sum(bool(index.said[line]) for line in self._to)
        kept += sum(line < self._head or line >= self._old - self._tail for line in index.solid)
        return 3 * kept >= len(index.solid)


def _head(ours: Sequence[str], theirs: Sequence[str], least: int) -> int:
    return next((n for n in range(least) if ours[n] != theirs[n]), least)


def _tail(ours: Sequence[str], theirs: Sequence[str], least: int) -> int:
    return next((n for n in range(least) if ours[-1 - n] != theirs[-1 - n]), least)
