"""The lines of a text: cut from it when they are asked for, so that a file is held once and not twice.

Plain Python; nothing here knows a screen. Lines count from 0.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import eq
from typing import overload

__all__ = ["TextLines"]

_FEED = re.compile("\n")
#: Lines that are cut at once where all are gone through.
_STRETCH = 4096


class TextLines(Sequence[str]):
    """The lines of a text, without their ends; one that ends with a line feed has no empty line behind it.

    Args:
        text: The text, a line feed between lines.

    Attributes:
        starts: Offset at which each line begins, and one more: where the next one would.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self.starts = array("I", (0,))
        self.starts.extend(match.end() for match in _FEED.finditer(text))
        if self.starts[-1] < len(text) or len(self.starts) == 1:
            self.starts.append(len(text) + 1)

    def __len__(self) -> int:
        return len(self.starts) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        if isinstance(index, slice):
            return self._cut(index)
        starts = self.starts
        if index < 0:
            index += len(starts) - 1
        if index < 0:
            raise IndexError(index)
        return self._text[starts[index] : starts[index + 1] - 1]

    def __iter__(self) -> Iterator[str]:
        for first in range(0, len(self), _STRETCH):
            yield from self[first : first + _STRETCH]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(map(eq, self, other))

    # what is compared with lists is no key; the class of all objects promises one
    __hash__ = None  # type: ignore[assignment]

    def at(self, offset: int) -> int:
        """The line that holds a character of the text, or its end."""
        return min(bisect_right(self.starts, offset), len(self)) - 1

    def span(self, first: int, last: int) -> str:
        """The text of lines ``first`` to ``last``, without the end of the last."""
        return self._text[self.starts[first] : self.starts[last + 1] - 1]

    def part(self, number: int, first: int, end: int) -> str:
        """Characters ``first`` to ``end`` of a line; a line of megabytes is not copied for them."""
        begin, last = self.starts[number], self.starts[number + 1] - 1
        return self._text[min(begin + first, last) : min(begin + end, last)]

    def length(self, number: int) -> int:
        """Characters of a line."""
        return self.starts[number + 1] - self.starts[number] - 1

    def _cut(self, index: slice) -> list[str]:
        first, end, step = index.indices(len(self))
        if step != 1:
            return [self[number] for number in range(first, end, step)]
        return self.span(first, end - 1).split("\n") if first < end else []
