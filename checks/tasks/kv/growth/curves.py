"""Growth over length: what the worker counted, and exponents of curves and of staircases."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any, Self

__all__ = ["EXPONENT", "Work", "exponent", "jumps", "law"]

#: Linear growth may come in jumps of up to two (buffers that double); quadratic growth is 2.
EXPONENT = 1.4
#: An increase of so many times the usual one is no drip but new room.
_ROOM = 8.0
#: What adds less than this share of the growth sets no law.
_SHARE = 0.1


@dataclass(frozen=True, slots=True)
class Work:
    """What calls asked of their arrays; counted beside the submission, so no more than a hint by itself.

    Attributes:
        products: Multiply-adds of matrix products.
        elements: Elements of element-wise operations and reductions.
    """

    products: int = 0
    elements: int = 0

    @classmethod
    def of(cls, counters: Sequence[Mapping[str, Any]]) -> Self:
        """The sum over several calls."""
        return cls(_sum(counters, "multiply_adds"), _sum(counters, "elements"))


def _sum(counters: Sequence[Mapping[str, Any]], name: str) -> int:
    told = (counted.get(name) for counted in counters)
    return sum(count for count in told if isinstance(count, int) and count > 0)


def exponent(points: Sequence[tuple[float, float]]) -> float:
    """P of y ~ x^p between the first and the last point above 0; 0 where nothing grows."""
    above = [point for point in points if point[1] > 0]
    if len(above) < 2:
        return 0.0
    (x0, y0), (x1, y1) = above[0], above[-1]
    return math.log(y1 / y0) / math.log(x1 / x0) if y1 > y0 else 0.0


def jumps(points: Sequence[tuple[float, float]]) -> int:
    """At how many of the points there is more than at the one before."""
    return sum(y1 > y0 for (_x0, y0), (_x1, y1) in pairwise(points))


def law(points: Sequence[tuple[float, float]]) -> float | None:
    """P of y ~ x^p + constant, where y may grow in steps: room is made ahead, and filled.

    What was reserved at the start and how far ahead room is made do not matter: y is taken where the room
    is full, just before more is made, and the bytes per token between such places are compared.

    Args:
        points: y after every token, without a gap.

    Returns:
        The largest p of what grows steadily and of what grows in steps; 0 where nothing grows, ``None``
        where room was made too rarely to tell.
    """
    rises = [max(0.0, y1 - y0) for (_x0, y0), (_x1, y1) in pairwise(points)]
    whole = sum(rises)
    if not whole:
        return 0.0
    usual = median(rises)
    drips = [rise if rise <= _ROOM * usual else 0.0 for rise in rises]
    rooms = [rise - drip for rise, drip in zip(rises, drips, strict=True)]
    parts = [part for part in (drips, rooms) if sum(part) >= _SHARE * whole]
    found = [_least([x for x, _y in points], part) for part in parts]
    told = [p for p in found if p is not None]
    return max(told, default=None)


def _least(x: Sequence[float], rises: Sequence[float]) -> float | None:
    """The least exponent of the whole and of its halves: a kink, where a reserve ends, is in one of them."""
    half = len(rises) // 2
    found = [_steepening(x, rises), _steepening(x, rises[:half]), _steepening(x[half:], rises[half:])]
    return min((p for p in found if p is not None), default=None)


def _steepening(x: Sequence[float], rises: Sequence[float]) -> float | None:
    """1 + the exponent of y's slope over x, between places at which the room is full."""
    full, held = [], 0.0
    for place, rise in zip(x, rises, strict=False):
        if rise:
            full.append((place, held))
        held += rise
    if len(full) < 3:
        return None
    (x0, y0), (x2, y2) = full[0], full[-1]
    x1, y1 = min(full[1:-1], key=lambda point: abs(point[0] - (x0 + x2) / 2))
    early, late = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
    return 1.0 + math.log(late / early) / math.log((x1 + x2) / (x0 + x1))
