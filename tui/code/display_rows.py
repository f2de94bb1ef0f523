"""Which part of a file each row of its view shows.

A fold takes lines away and tells how many behind the line that stays; wrapping gives a line several rows.

Plain Python; nothing here knows a screen. Lines and rows count from 0.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

__all__ = ["DisplayRows", "fold_marker"]


def fold_marker(lines: int) -> str:
    """What stands behind the first line of a fold that hides so many others."""
    return f" ⋯ {lines} line{'s' if lines > 1 else ''}"


class DisplayRows:
    """The rows of a view, top to bottom.

    Args:
        count: Lines of the file.
        folds: First line of a closed fold, which stays in view, → its last line.
        widths: Columns of each line; only asked with ``room``.
        room: Columns of a row when lines wrap, else 0.
    """

    def __init__(
        self,
        count: int,
        folds: Mapping[int, int] | None = None,
        widths: Sequence[int] = (),
        room: int = 0,
    ) -> None:
        self._count = count
        self._room = room
        # None stands for "every line" and "one row each": most files are looked at as they are
        self._lines: list[int] | None = _in_view(count, folds) if folds else None
        self._starts: list[int] | None = None
        if room:
            shown = widths if self._lines is None else [widths[line] for line in self._lines]
            heights = [1 if width <= room else -(-width // room) for width in shown]
            for first, last in (folds or {}).items():
                if self.shown(first) == first:
                    index = self._index(first)
                    # the marker is not broken: where it does not fit behind the text it has a row of its own
                    heights[index] += heights[index] * room - shown[index] < len(fold_marker(last - first))
            self._starts = [0, *accumulate(heights)]

    def __len__(self) -> int:
        if self._starts is not None:
            return self._starts[-1]
        return self._count if self._lines is None else len(self._lines)

    def at(self, row: int) -> tuple[int, int]:
        """The line that a row shows, and the first column of it; past the end the line is the count."""
        if row >= len(self):
            return self._count, 0
        if self._starts is None:
            return (row if self._lines is None else self._lines[row]), 0
        index = bisect_right(self._starts, row) - 1
        line = index if self._lines is None else self._lines[index]
        return line, (row - self._starts[index]) * self._room

    def row_of(self, line: int, column: int = 0) -> int:
        """The row of a line's column; a line in a closed fold is on the row of the fold."""
        index = self._index(line)
        if self._starts is None:
            return index
        first, after = self._starts[index], self._starts[index + 1]
        return min(first + column // self._room, after - 1)

    def shown(self, line: int) -> int:
        """The line itself, or the first line of the fold that hides it."""
        return line if self._lines is None else self._lines[self._index(line)]

    def after(self, line: int, lines: int) -> int:
        """The line in view that is so many lines in view further down, or up, as far as there are any."""
        if self._lines is None:
            return min(max(line + lines, 0), self._count - 1)
        index = self._index(line) + lines
        return self._lines[min(max(index, 0), len(self._lines) - 1)]

    def _index(self, line: int) -> int:
        """How many lines in view stand before this one."""
        line = min(max(line, 0), self._count - 1)
        return line if self._lines is None else bisect_right(self._lines, line) - 1


def _in_view(count: int, folds: Mapping[int, int]) -> list[int]:
    lines: list[int] = []
    after = 0
    for first, last in sorted(folds.items()):
        if first >= after:
            lines += range(after, first + 1)
            after = last + 1
    lines += range(after, count)
    return lines
