"""Axes of a plot: where a value stands between the ends, which values are told, and how they are written."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

__all__ = ["Axis", "drawable", "short"]

_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: Steps that a scale is read by, each times a power of ten.
_STEPS = (1.0, 2.0, 5.0, 10.0)


class Axis(Struct, frozen=True):
    """One axis.

    Attributes:
        low: The least value.
        high: The greatest.
        log: Whether each step is as many times as large.
    """

    low: float
    high: float
    log: bool = False

    @classmethod
    def over(cls, values: Sequence[float], *, log: bool = False) -> Axis:
        """The axis from the least of some values to the greatest."""
        return cls(min(values), max(values), log)

    def at(self, value: float) -> float:
        """Where a value stands, from 0 to 1; in the middle where all are the same."""
        low, high = self._scaled(self.low), self._scaled(self.high)
        return 0.5 if high == low else (self._scaled(value) - low) / (high - low)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, most: int) -> tuple[float, ...]:
        """Round values on the axis, at most so many; its ends where there is none."""
        found = self._decades(most) if self.log else self._steps(most)
        return found or ((self.low, self.high) if self.low != self.high else (self.low,))

    def _decades(self, most: int) -> tuple[float, ...]:
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        step = max(math.ceil((last - first + 1) / max(most, 1)), 1)
        found = tuple(10.0**power for power in range(first, last + 1, step))
        # of less than two decades, what lies between them is told too
        between = [10.0**power * each for power in range(first - 1, last + 1) for each in (1.0, 2.0, 5.0)]
        within = tuple(value for value in between if self.low <= value <= self.high)
        if len(found) < 3 and len(within) <= most:
            found = within
        return found if len(found) > 1 else ()

    def _steps(self, most: int) -> tuple[float, ...]:
        span = self.high - self.low
        if span <= 0 or not math.isfinite(span):
            return ()
        power = 10.0 ** math.floor(math.log10(span / max(most, 1)))
        step = next((power * each for each in _STEPS if span / (power * each) <= most), power * 10)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        found = tuple(number * step for number in range(first, last + 1))
        return found[:most] if len(found) > 1 else ()


def drawable(value: float | None, *, log: bool) -> bool:
    """Whether a value has a place on an axis."""
    return value is not None and math.isfinite(value) and (value > 0 or not log)


def short(value: float) -> str:
    """A value in few characters: 12 k, 1e-07, 0.25."""
    size = abs(value)
    for least, prefix in _PREFIXES:
        if least <= size < 1e15:
            return f"{value / least:.3g} {prefix}"
    return f"{value:.3g}"
