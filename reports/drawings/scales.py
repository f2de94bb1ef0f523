"""From figures to places on a drawing, and the figures that stand along an axis."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from judge_tui.judging.summaries.parts import Axis

__all__ = ["Scale", "drawable", "scale_of", "short"]

_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
_STEPS = (1, 2, 5, 10)
#: Steps along an axis, about.
_TICKS = 6


@dataclass(frozen=True, slots=True)
class Scale:
    """Figures along a line.

    Attributes:
        low: The least figure.
        high: The largest, larger than that.
        start: Place of the least, in pixels of the drawing.
        end: Place of the largest.
        log: Whether equal steps are equal ratios; the least is positive then.
    """

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def at(self, value: float) -> float:
        """Place of a figure."""
        low, high, taken = ((math.log10(each) if self.log else each) for each in (self.low, self.high, value))
        return self.start + (taken - low) / (high - low) * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Round figures within it, ascending."""
        return _ratios(self.low, self.high) if self.log else _steps(self.low, self.high)


def scale_of(axis: Axis, values: Iterable[float], start: float, end: float) -> Scale:
    """A scale that holds figures, and what the axis wants to hold.

    Args:
        axis: It.
        values: Figures that can be drawn on it.
        start: Place of the least, in pixels.
        end: Place of the largest.
    """
    held = [*values, *(each for each in (axis.low, axis.high) if each is not None)] or [1.0]
    low, high = min(held), max(held)
    if low == high:
        room = abs(low) / 2 or 1.0
        low, high = (low / 2, high * 2) if axis.log else (low - room, high + room)
    return Scale(low, high, start, end, axis.log)


def drawable(value: float | None, axis: Axis) -> bool:
    """Whether a figure has a place on an axis."""
    return value is not None and math.isfinite(value) and (value > 0 or not axis.log)


def short(value: float) -> str:
    """A figure for the side of an axis: three digits, thousands as k, M, G, T."""
    size = abs(value)
    if size >= 1e15 or 0 < size < 1e-3:
        mantissa, _, power = f"{value:.2e}".partition("e")
        text = f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    elif size < 1e4:
        text = f"{value:.3g}" if size < 1000 else f"{value:.0f}"
    else:
        unit, name = next(each for each in _UNITS if size >= each[0])
        text = f"{value / unit:.4g}{name}"
    return text.replace("-", "−")


def _steps(low: float, high: float) -> list[float]:
    raw = (high - low) / _TICKS
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(each * power for each in _STEPS if each * power >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [each * step for each in range(first, last + 1)]


def _ratios(low: float, high: float) -> list[float]:
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    tens = [
        10.0**power
        for power in powers
        if low <= 10.0**power * (1 + 1e-9) and 10.0**power <= high * (1 + 1e-9)
    ]
    if len(tens) > _TICKS + 1:
        return tens[:: math.ceil(len(tens) / (_TICKS + 1))]
    fine = [each * 10.0**power for power in powers for each in _STEPS[:3]]
    within = [each for each in fine if low <= each <= high]
    return within or [low, high] if len(within) <= _TICKS + 1 else tens
