"""Times of calls, and whether a busy machine has spoiled them."""

from __future__ import annotations

import math
import statistics
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from judge_tui.checks.calling.connection import Connection
from judge_tui.checks.calling.own_time import Processor

__all__ = ["Clock", "Timed", "least", "median", "noise", "ratio_of", "withheld"]

#: Share of the wall clock spent waiting for a processor from which it is told as the reason.
_BUSY = 0.25
#: Share of a ratio that its noise may come to.
_MOST_NOISE = 0.4
#: Turns from which quartiles say something.
_FOR_QUARTILES = 5
#: Seconds below which a clock tells nothing.
_TICK = 1e-9


@dataclass(frozen=True, slots=True)
class Timed:
    """One call until its answer was here.

    Attributes:
        seconds: Own time of the process that made it.
        wall: Seconds of wall clock.
        waited: Seconds of those that the process or its judge waited for a processor; 0 where nobody tells.
    """

    seconds: float
    wall: float
    waited: float


class Clock:
    """A span with requests in it; afterwards ``timed`` says what they took.

    Args:
        worker: Whose requests they are.
    """

    def __init__(self, worker: Connection) -> None:
        self._worker = worker
        self._own = self._waited = 0.0

    def __enter__(self) -> Self:
        self._judge = Processor(threading.get_native_id())
        self._before = self._judge.times()[1]
        self._started = time.monotonic()
        return self

    def __exit__(self, *exc: object) -> None:
        wall = time.monotonic() - self._started
        waited = self._waited + max(self._judge.times()[1] - self._before, 0.0)
        self._judge.close()
        self.timed = Timed(self._own, wall, min(waited, wall))

    def count(self) -> None:
        """Take the last request as part of it."""
        self._own += self._worker.took
        self._waited += self._worker.waited


def least(times: Sequence[Timed]) -> float:
    """The fewest seconds."""
    return min(each.seconds for each in times)


def median(times: Sequence[Timed]) -> float:
    """The median of the seconds."""
    return statistics.median(each.seconds for each in times)


def ratio_of(ours: Sequence[Timed], theirs: Sequence[Timed]) -> float:
    """The ratio of the medians."""
    return median(ours) / max(median(theirs), _TICK)


def noise(ours: Sequence[Timed], theirs: Sequence[Timed]) -> float:
    """How far the median of a ratio, taken turn by turn, may be off: half of its 95 % interval.

    Source: McGill, Tukey and Larsen, Variations of Box Plots, The American Statistician 32 (1978).
    """
    ratios = sorted(one.seconds / max(other.seconds, _TICK) for one, other in zip(ours, theirs, strict=True))
    low, high = ratios[0], ratios[-1]
    if len(ratios) >= _FOR_QUARTILES:
        low, _middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return 1.57 * (high - low) / math.sqrt(len(ratios))


def withheld(ours: Sequence[Timed], theirs: Sequence[Timed]) -> str:
    """Why a ratio of times is not told, as a clause; empty where it may be.

    Args:
        ours: Times of one, turn by turn.
        theirs: Times of the other, in the same turns.
    """
    ratio, off = ratio_of(ours, theirs), noise(ours, theirs)
    if off <= _MOST_NOISE * ratio:
        return ""
    every = (*ours, *theirs)
    share = sum(each.waited for each in every) / max(sum(each.wall for each in every), _TICK)
    busy = f"busy ({share:.0%} of the time went by waiting for a processor)" if share > _BUSY else "restless"
    return f"the machine is {busy}, and the ratio of {ratio:.2g} may be off by {off:.2g}"
