"""Growth over length: what the worker counted, and exponents of curves."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

__all__ = ["EXPONENT", "Work", "exponent"]

#: Linear growth may come in jumps of up to two (buffers that double); quadratic growth is 2.
EXPONENT = 1.4


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
    """P of y ~ x^p between the first and the last point; 0 where nothing grows."""
    (x0, y0), (x1, y1) = points[0], points[-1]
    if y1 <= y0:
        return 0.0
    return math.log(y1 / y0) / math.log(x1 / x0) if y0 > 0 else float("inf")
