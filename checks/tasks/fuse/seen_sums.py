"""The sum that probabilities were divided by, where they are off by a factor that they have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.shared_rows import SharedRow

__all__ = ["Hypothesis", "Sum", "sum_of"]

#: How far the logarithm of a sum in float32 may be from what a mistake gives, and how far it is off at least.
_SAME, _OFF = 5e-5, 1e-3
#: Probabilities from which on an entry says something of the sum.
_TOLD = 1e-30


@dataclass(frozen=True, slots=True)
class Sum:
    """The sum that a row's probabilities were divided by.

    Attributes:
        row: Its logits.
        log: Its logarithm, the maximum that was taken off added back.
    """

    row: SharedRow
    log: float

    @property
    def count(self) -> int:
        """How many logits its row has, V."""
        return len(self.row.logits)

    @property
    def off(self) -> bool:
        """Whether it is wrong by so much that mistakes can be told apart."""
        return abs(self.log - self.row.log) > _OFF


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A mistake.

    Attributes:
        words: For people, as a clause.
        made: What logarithm of the sum it gives.
    """

    words: str
    made: Callable[[SharedRow], float]

    def gives(self, seen: Sum) -> bool:
        """Whether it gives this sum."""
        with np.errstate(all="ignore"):
            log = self.made(seen.row)
        return bool(abs(log - seen.log) <= _SAME * max(1.0, abs(seen.log) / 16))


def sum_of(
    row: npt.NDArray[np.float32], picked: npt.NDArray[np.float32], probabilities: npt.NDArray[np.float32]
) -> Sum | None:
    """The sum behind the probabilities of one row.

    Args:
        row: Its logits (V,).
        picked: Those that were chosen (K,).
        probabilities: What came with them (K,).

    Returns:
        ``None`` where the entries have no factor in common, so that a sum is not what is wrong.
    """
    told = np.isfinite(probabilities) & (probabilities > _TOLD) & np.isfinite(picked)
    if not told.any():
        return None
    logs = picked[told].astype(np.float64) - np.log(probabilities[told].astype(np.float64))
    if np.ptp(logs) > _OFF:
        return None
    return Sum(SharedRow(row), float(np.median(logs)))
