"""Where the lines of a file are after it has changed."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence

from judge_tui.tui.code.equal_lines import equal_lines

__all__ = ["LineMap"]

#: Above so many lines between a common head and tail, what is between them is not compared.
_MOST = 20_000


class LineMap:
    """Maps lines of one text to those of another, by what stands in them; run it in a thread.

    Args:
        before: Lines of the old text.
        after: Lines of the new one.
    """

    def __init__(self, before: Sequence[str], after: Sequence[str]) -> None:
        head = 0
        least = min(len(before), len(after))
        while head < least and before[head] == after[head]:
            head += 1
        tail = 0
        while tail < least - head and before[-1 - tail] == after[-1 - tail]:
            tail += 1
        # runs of equal lines: where they begin in the old and in the new text
        self._runs = [(0, 0)]
        self._last = max(len(after) - 1, 0)
        olds, news = before[head : len(before) - tail], after[head : len(after) - tail]
        if max(len(olds), len(news)) <= _MOST:
            self._runs += [(head + old, head + new) for old, new in _runs(olds, news)]
        else:
            self._runs.append((head, head))
        self._runs.append((len(before) - tail, len(after) - tail))
        self._olds = [old for old, _ in self._runs]

    def __call__(self, line: int) -> int:
        """The line that an old one has become, or the one that stands in its place."""
        at = bisect_right(self._olds, line) - 1
        old, new = self._runs[at]
        following = self._runs[at + 1][1] if at + 1 < len(self._runs) else self._last + 1
        return min(max(min(new + line - old, following), 0), self._last)

    def folds(self, folds: Mapping[int, int]) -> dict[int, int]:
        """Closed folds, as far as they are some still."""
        moved = {self(first): self(last) for first, last in folds.items()}
        return {first: last for first, last in moved.items() if last > first}


def _runs(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Where each run of equal lines begins, and what stands between it and the next one."""
    following = (0, 0)
    for old, new in equal_lines(before, after):
        if (old, new) != following:
            yield following
            yield old, new
        following = old + 1, new + 1
    yield following
