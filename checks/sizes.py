"""Sizes of inputs: drawn, so that code which is right at some sizes alone is right by chance.

A few fixed sizes stand beside them in each check, for what is known to matter; all others follow from the
seed of a run, which replays them. Some are drawn about the integers of the submission's own source, beside
those that any submission gets, of which they take none away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.source_integers import Integer

__all__ = ["About", "Range", "Sizes"]

#: The least and the greatest size of an axis.
Range = tuple[int, int]
#: Sizes up to which every check draws axes anyway.
_COMMON = 64


@dataclass(frozen=True, slots=True)
class About:
    """A size about an integer of the submission's source.

    Attributes:
        axis: Name of the axis that has it.
        size: It.
        integer: What it is about.
    """

    axis: str
    size: int
    integer: Integer

    def __str__(self) -> str:
        return f"{self.axis} about {self.integer.value}, which {self.integer.file}:{self.integer.line} has"


class Sizes:
    """Draws sizes of axes.

    Args:
        rng: Where they come from, used for nothing else.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def between(self, least: int, most: int) -> int:
        """A size of a range, its ends included: as often small as large, and as often few as many digits."""
        if self._rng.random() < 0.5:
            return int(self._rng.integers(least, most + 1))
        low, high = math.log(max(least, 1)), math.log(most + 1)
        return min(max(int(math.exp(self._rng.uniform(low, high))), least), most)

    def one_of(self, sizes: Sequence[int]) -> int:
        """One of several sizes."""
        return int(self._rng.choice(sizes))

    def multiple(self, unit: int, least: int, most: int) -> int:
        """A multiple of a unit, of a range that holds one."""
        return unit * self.between(-(-least // unit), most // unit)

    def shape(self, *axes: Range) -> tuple[int, ...]:
        """A size for each of several axes."""
        return tuple(self.between(*axis) for axis in axes)

    def about(self, integers: Iterable[Integer], axes: Mapping[str, Range], most: int) -> list[About]:
        """Sizes about the integers of a source: c + 1, then 2c + 1, c - 1 and c, largest doubt first.

        Args:
            integers: The source's.
            axes: Name of each axis that they can concern → its range.
            most: How many sizes at most.
        """
        drawn = [(one, float(self._rng.random())) for one in integers]
        drawn.sort(key=lambda pair: (-pair[0].doubt - (pair[0].value > _COMMON), pair[1]))
        found: dict[tuple[str, int], About] = {}
        for times, more in ((1, 1), (2, 1), (1, -1), (1, 0)):
            for one, _ in drawn:
                for axis, (least, greatest) in axes.items():
                    size = times * one.value + more
                    if least <= size <= greatest:
                        found.setdefault((axis, size), About(axis, size, one))
        return list(found.values())[:most]

    def each_large(self, small: Sequence[Range], large: Sequence[Range]) -> list[tuple[int, ...]]:
        """A shape per axis in which that one is large and the others are small.

        Args:
            small: The ranges of all axes while they are small.
            large: The range of each while it is large; ``(0, 0)`` where it never is.
        """
        return [
            tuple(self.between(*(large if other == axis else small)[other]) for other in range(len(small)))
            for axis in range(len(small))
            if large[axis][1]
        ]
