"""Quantiles that intervals are made with, without SciPy."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

__all__ = ["normal", "student"]


def normal(level: float) -> float:
    """What a standard normal lies within, on both sides of 0, with this probability.

    Args:
        level: Between 0 and 1, such as 0.95 for 1.96.
    """
    return NormalDist().inv_cdf(0.5 + level / 2)


@lru_cache
def student(level: float, freedom: int) -> float:
    """What Student's t lies within, on both sides of 0, with this probability.

    Args:
        level: Between 0 and 1.
        freedom: Degrees of freedom, 1 or more.

    Source: Abramowitz and Stegun, 26.7.3 and 26.7.4, solved by bisection.
    """
    low, high = 0.0, 2.0
    while _within(high, freedom) < level:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _within(middle, freedom) < level else (low, middle)
    return (low + high) / 2


def _within(t: float, freedom: int) -> float:
    """Probability that Student's t lies between -t and t."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = freedom % 2
    term = total = 1.0 if not odd else math.cos(angle)
    for power in range(2 + odd, freedom - 1, 2):
        term *= square * (power - 1) / power
        total += term
    if not odd:
        return sine * total
    return 2 / math.pi * (angle + (sine * total if freedom > 1 else 0.0))
