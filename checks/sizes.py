"""Sizes of inputs: drawn, so that code which is right at some sizes alone is right by chance.

A few fixed sizes stand beside them in each check, for what is known to matter; all others follow from the
seed of a run, which replays them. Some are drawn about the integers of the submission's own source, beside
those that any submission gets, of which they take none away.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from judge_tui.checks.axis_names import axis_of, is_no_size
from judge_tui.checks.joined import Condition
from judge_tui.checks.source_integers import Integer

__all__ = ["About", "Range", "Sizes"]

#: The least and the greatest size of an axis.
Range = tuple[int, int]
#: Sizes up to which every check draws axes anyway.
_COMMON = 64
#: Sizes up to which each is drawn by most checks anyway.
_ANYWAY = 17
#: Sizes about an integer c: how often c, and how much more.
_STEPS = ((1, 1), (2, 1), (1, -1), (1, 0))
#: Meanings of one condition that are tried, and sizes without a name that axes are looked for.
_MEANINGS, _UNNAMED = 3, 3
#: One in so many sizes is about a product, where there is one.
_OF_PRODUCTS = 4


@dataclass(frozen=True, slots=True)
class About:
    """Sizes about an integer of the submission's source, or about those that a condition of it names.

    Attributes:
        at: Name of each axis that has one → it.
        why: What they are about, as a clause.
    """

    at: Mapping[str, int]
    why: str

    @property
    def largest(self) -> int:
        """The largest of its sizes."""
        return max(self.at.values())

    @property
    def words(self) -> str:
        """Its sizes."""
        return ", ".join(f"{axis} = {size}" for axis, size in self.at.items())

    def __str__(self) -> str:
        return self.why


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

    def about(
        self,
        integers: Iterable[Integer],
        axes: Mapping[str, Range],
        most: int,
        *,
        steps: Sequence[tuple[int, int]] = _STEPS,
        products: Sequence[Integer] = (),
    ) -> list[About]:
        """Sizes about the integers of a source: c + 1, then 2c + 1, c - 1 and c, largest doubt first.

        A product's c + 1 takes the last places, whatever integers would have them.

        Args:
            integers: The source's.
            axes: Name of each axis that they can concern → its range.
            most: How many sizes at most.
            steps: How often c, and how much more, in another order.
            products: Products of two of them, the likeliest first.
        """
        last = _past(products, axes, most // _OF_PRODUCTS)
        drawn = [(one, float(self._rng.random())) for one in integers]
        drawn.sort(key=lambda pair: (-pair[0].doubt - (pair[0].value > _COMMON), pair[1]))
        found: dict[tuple[str, int], About] = {}
        for times, more in steps:
            for one, _ in drawn:
                for axis, (least, greatest) in axes.items():
                    size = times * one.value + more
                    if least <= size <= greatest:
                        why = f"{axis} about {one.value}, which {one.file}:{one.line} has"
                        found.setdefault((axis, size), About({axis: size}, why))
        first = [one for at, one in found.items() if at not in last]
        return [*first[: most - len(last)], *last.values()]

    def alone(self, conditions: Sequence[Condition], axes: Mapping[str, Range], most: int) -> list[About]:
        """Sizes that a source asks for by the name of an axis, ``D == 256``, and that are not drawn anyway.

        Args:
            conditions: The source's, of one size each.
            axes: Name of each axis that they can concern → its range.
            most: How many at most.
        """
        found: dict[tuple[str, int], About] = {}
        for index in self._rng.permutation(len(conditions)):
            one = conditions[int(index)]
            ((name, size),) = one.sizes
            axis = axis_of(name, axes)
            if axis and size > _ANYWAY and _within(size, axes[axis]):
                why = f"{axis} = {size}, which {one.file}:{one.line} names"
                found.setdefault((axis, size), About({axis: size}, why))
        return list(found.values())[:most]

    def together(self, conditions: Sequence[Condition], axes: Mapping[str, Range], most: int) -> list[About]:
        """Sizes that one condition of a source names, all at once, and those with one of them a little more.

        Conditions about these sizes alone come first, others in any order; each has its likeliest meaning
        before any has another.

        Args:
            conditions: The source's.
            axes: Name of each axis that they can concern → its range, the last axis of arrays first.
            most: How many cases at most.
        """
        order = self._rng.permutation(len(conditions))
        chosen = sorted((conditions[int(index)] for index in order), key=lambda one: not one.exact)
        meant: list[tuple[Condition, list[dict[str, int]]]] = []
        for one in chosen:
            if len(meant) < most and (ways := self._meanings(one, axes)):
                meant.append((one, ways))
        found: dict[frozenset[tuple[str, int]], About] = {}
        for turn in range(_MEANINGS):
            for one, ways in meant:
                for at in ways[turn : turn + 1]:
                    where = f"which {one.file}:{one.line} names together"
                    found.setdefault(frozenset(at.items()), _joint(at, where))
            if not turn:
                for one, ways in meant:
                    where = f"beside what {one.file}:{one.line} names together"
                    for at in self._beside(ways[0], axes):
                        found.setdefault(frozenset(at.items()), _joint(at, where))
        return list(found.values())[:most]

    def _meanings(self, condition: Condition, axes: Mapping[str, Range]) -> list[dict[str, int]]:
        """Sizes of axes that a condition may mean: what its names tell, the others on the axes left."""
        told: dict[str, int] = {}
        rest: list[int] = []
        for name, size in condition.sizes:
            axis = axis_of(name, axes)
            if axis and axis not in told:
                if not _within(size, axes[axis]):
                    return []
                told[axis] = size
            elif not is_no_size(name) and any(_within(size, spread) for spread in axes.values()):
                rest.append(size)
        free = [axis for axis in axes if axis not in told]
        count = min(len(rest), len(free), _UNNAMED)
        ways = [
            {**told, **dict(zip(place, rest, strict=False))}
            for place in self._places(free, count)
            if all(_within(size, axes[axis]) for axis, size in zip(place, rest, strict=False))
        ] or [told]
        return [at for at in ways[:_MEANINGS] if len(at) > 1]

    def _places(self, free: Sequence[str], count: int) -> list[tuple[str, ...]]:
        """The axes that sizes without a name may be of: the last ones in their order, then any others."""
        places = list(itertools.permutations(free, count))
        likeliest = tuple(reversed(free[:count]))
        order = [places[int(index)] for index in self._rng.permutation(len(places))]
        return sorted(order, key=lambda place: place != likeliest)

    def _beside(self, at: dict[str, int], axes: Mapping[str, Range]) -> Iterator[dict[str, int]]:
        """The sizes with one of them a little more."""
        axis = list(at)[int(self._rng.integers(len(at)))]
        if _within(at[axis] + 1, axes[axis]):
            yield {**at, axis: at[axis] + 1}

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


def _past(products: Sequence[Integer], axes: Mapping[str, Range], most: int) -> dict[tuple[str, int], About]:
    """Axis and size → the sizes just past products, the likeliest product on the likeliest axis first."""
    found: dict[tuple[str, int], About] = {}
    pairs = itertools.product(range(len(products)), enumerate(axes.items()))
    for at, (_place, (axis, spread)) in sorted(pairs, key=lambda pair: pair[0] + pair[1][0]):
        one = products[at]
        if _within(one.value + 1, spread) and len(found) < most:
            why = f"{axis} about {one.named}, of which {one.file}:{one.line} has one"
            found.setdefault((axis, one.value + 1), About({axis: one.value + 1}, why))
    return found


def _within(size: int, spread: Range) -> bool:
    return spread[0] <= size <= spread[1]


def _joint(at: dict[str, int], where: str) -> About:
    return About(at, f"{' with '.join(f'{axis} = {size}' for axis, size in at.items())}, {where}")
