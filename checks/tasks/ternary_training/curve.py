"""Whether a noisy curve falls: the start against the end, in units of the noise between neighbours."""

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


@dataclass(frozen=True, slots=True)
class Trend:
    """A curve in four figures.

    Attributes:
        first: Median of its first points (a fifth of them, five at most).
        last: Median of its last fifth.
        best: Smallest median of as many points anywhere.
        error: Standard error of ``first - last``, from the noise between neighbours.
    """

    first: float
    last: float
    best: float
    error: float

    @property
    def falls(self) -> bool:
        """Whether the end lies under the start by more than noise."""
        return self.first - self.last > _SIGMAS * self.error and self.last < self.first

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
    )
