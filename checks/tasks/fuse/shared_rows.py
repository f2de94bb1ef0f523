"""How threads share out a row, and the maximum and the sum of exponentials of each one's part."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.merges import Parts

__all__ = ["CHUNKS", "SHARED", "WARP", "Floats", "SharedRow"]

Floats = npt.NDArray[np.float64]
WARP = 32
#: Parts of one size, as many as there are.
CHUNKS = "chunks"


class SharedRow:
    """Logits as threads share them.

    Args:
        logits: (V,) float32.

    Attributes:
        logits: The same in float64.
        top: The largest.
        log: The logarithm of their sum of exponentials.
    """

    def __init__(self, logits: npt.NDArray[np.float32]) -> None:
        self.logits = logits.astype(np.float64)
        self.top = float(self.logits.max())
        self.log = self.top + float(np.log(np.exp(self.logits - self.top).sum()))
        self._known: dict[tuple[str, int], Parts] = {}

    def shared(self, how: str, threads: int) -> Floats:
        """The part of each thread, one in each line."""
        return _side(self.logits, threads) if how == CHUNKS else SHARED[how](self.logits, threads)

    def statistics(self, how: str, threads: int) -> Parts:
        """The maximum and the sum of each thread's part."""
        key = how, threads
        if key not in self._known:
            parts = self.shared(how, threads)
            top = parts.max(axis=1)
            finite = np.where(np.isfinite(top), top, 0.0)
            self._known[key] = top, np.exp(parts - finite[:, None]).sum(axis=1)
        return self._known[key]


def _padded(row: Floats, unit: int) -> Floats:
    return np.pad(row, (0, -len(row) % unit), constant_values=-np.inf)


def _strided(row: Floats, count: int) -> Floats:
    return np.ascontiguousarray(_padded(row, count).reshape(-1, count).T)


def _by_fours(row: Floats, count: int) -> Floats:
    fours = _padded(row, 4 * count).reshape(-1, count, 4)
    return np.ascontiguousarray(fours.transpose(1, 0, 2).reshape(count, -1))


def _by_fours_and_rest(row: Floats, count: int) -> Floats:
    """Those behind the last four go to one lane each, from the first on."""
    whole = len(row) // 4 * 4
    return np.concatenate([_by_fours(row[:whole], count), _strided(row[whole:], count)], axis=1)


def _side(row: Floats, size: int) -> Floats:
    return _padded(row, size).reshape(-1, size)


def _side_by_side(row: Floats, count: int) -> Floats:
    return _padded(row, count * -(-len(row) // count)).reshape(count, -1)


#: How a row is shared out → its parts, one in each line.
SHARED: dict[str, Callable[[Floats, int], Floats]] = {
    "lanes": _strided,
    "lanes of four logits": _by_fours,
    "lanes of four logits (the rest one by one)": _by_fours_and_rest,
    "lanes with a stretch each": _side_by_side,
}
