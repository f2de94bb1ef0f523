"""Whether a noisy curve falls: the start against the end in units of the noise, or the order of few points.

Few points fall steeply at first, so that the noise between neighbours cannot be told from the bend; what
order they are in says more then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ENOUGH", "Trend", "trend"]

#: Fewer points are no curve.
ENOUGH = 5
#: The start of a curve is this many points at most: training falls fastest there.
_START = 5
_SIGMAS = 3.0
#: Up to so many points their order counts as well, where chance gives one as orderly this rarely.
_FEW, _RARE, _DOUBTFUL = 20, 0.01, 0.1


@dataclass(frozen=True, slots=True)
class Trend:
    """A curve in five figures.

    Attributes:
        first: Median of its first points (a fifth of them, five at most).
        last: Median of its last fifth.
        best: Smallest median of as many points anywhere.
        error: Standard error of ``first - last``, from the noise between neighbours.
        chance: Of few points, the share of all orders of them that fall as much (Mann-Kendall); else 1.
    """

    first: float
    last: float
    best: float
    error: float
    chance: float = 1.0

    @property
    def falls(self) -> bool:
        """Whether the end lies under the start by more than noise."""
        beyond = self.first - self.last > _SIGMAS * self.error or self.chance <= _RARE
        return beyond and self.last < self.first

    @property
    def may_fall(self) -> bool:
        """Whether it looks so, and the points are too few to say."""
        return self.chance <= _DOUBTFUL and self.last < self.first

    @property
    def share(self) -> float:
        """The fall as a share of the start."""
        return (self.first - self.last) / abs(self.first) if self.first else 0.0

    @property
    def lost(self) -> float:
        """Which share of its best fall the curve lost again at the end."""
        fall = self.first - self.best
        return (self.last - self.best) / fall if fall > 0 else 0.0


def trend(values: Sequence[float]) -> Trend:
    """Describe a curve of at least :data:`ENOUGH` finite values."""
    array: npt.NDArray[Any] = np.asarray(values, np.float64)
    tail = max(2, len(array) // 5)
    head = min(tail, _START)
    windows = np.lib.stride_tricks.sliding_window_view(array, tail)
    # A point against the mean of its neighbours has 1.5 times the variance of the noise.
    rough = array[1:-1] - (array[:-2] + array[2:]) / 2
    noise = 1.4826 * float(np.median(np.abs(rough))) / np.sqrt(1.5)
    error = 1.2533 * noise * np.sqrt(1 / head + 1 / tail)
    return Trend(
        float(np.median(array[:head])),
        float(np.median(array[-tail:])),
        float(np.median(windows, axis=1).min()),
        float(error),
        _chance(array) if len(array) <= _FEW else 1.0,
    )


def _chance(array: npt.NDArray[Any]) -> float:
    """Share of all orders of as many points in which no more pairs rise than in this one; ties count half.

    Source: M. G. Kendall, "A New Measure of Rank Correlation", Biometrika 30 (1938).
    """
    rising = sum(
        float(np.sum(array[i + 1 :] > array[i]) + np.sum(array[i + 1 :] == array[i]) / 2)
        for i in range(len(array))
    )
    # How many orders have 0, 1, 2, … rising pairs: the next point rises over 0 to all of those before it.
    orders = np.ones(1)
    for before in range(2, len(array) + 1):
        orders = np.convolve(orders, np.full(before, 1.0 / before))
    return float(orders[: int(rising) + 1].sum())
