"""Comparisons that a path asks for together, and sizes that meet them all."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

__all__ = [
    "MOST_BOUNDS",
    "Bound",
    "Condition",
    "Negated",
    "Several",
    "Test",
    "beneath",
    "flipped",
    "solved",
    "ways",
]

#: Comparisons of one conjunction that are looked at, and conjunctions of one condition.
MOST_BOUNDS = 8
_MOST_WAYS = 64
_DEPTH = 8
_NEGATED: Final = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_FLIPPED: Final = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_NEAREST: Final = {"==": 0, ">=": 0, "<=": 0, ">": 1, "<": -1}


@dataclass(frozen=True, slots=True)
class Bound:
    """A comparison of something with an integer.

    Attributes:
        name: What is compared; two names about a ``*`` for their product, a text that is no name for what
            has none.
        sign: ``==``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
        value: The integer.
    """

    name: str
    sign: str
    value: int

    @property
    def nearest(self) -> int:
        """The size that meets it and is nearest to its integer."""
        return self.value + _NEAREST[self.sign]

    def met(self, size: int) -> bool:
        """Whether a size meets it."""
        more, less = size > self.value, size < self.value
        return {"==": not (more or less), "!=": more or less, "<": less, "<=": not more, ">": more,
                ">=": not less}[self.sign]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Several:
    """Tests that all have to hold, or one of them."""

    every: bool
    parts: tuple[Test, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """A test that must not hold."""

    part: Test


#: ``None`` is a test of which nothing is known.
Test = Bound | Several | Negated | None


@dataclass(frozen=True, slots=True)
class Condition:
    """Sizes that a path of the source asks for together.

    Attributes:
        sizes: What is compared → the size that it needs; what has no name counts as another each.
        file: Relative name of the file that it stands in.
        line: 1-based.
        exact: Whether it is about these sizes alone.
    """

    sizes: tuple[tuple[str, int], ...]
    file: str
    line: int
    exact: bool


def ways(test: Test, negated: bool = False, depth: int = _DEPTH) -> list[tuple[Bound, ...]]:
    """The conjunctions of which one has to hold for a test to hold, those that say nothing left out.

    Args:
        test: The test.
        negated: Whether it must not hold instead.
        depth: How deep tests may stand in each other.
    """
    return [way for way in _ways(test, negated, depth) if way]


def _ways(test: Test, negated: bool, depth: int) -> list[tuple[Bound, ...]]:
    if depth <= 0 or test is None:
        return [()]
    if isinstance(test, Bound):
        return [(Bound(test.name, _NEGATED[test.sign], test.value) if negated else test,)]
    if isinstance(test, Negated):
        return _ways(test.part, not negated, depth - 1)
    each = [_ways(part, negated, depth - 1) for part in test.parts[:_MOST_WAYS]]
    if test.every == negated:
        return [way for found in each for way in found][:_MOST_WAYS]
    joint: list[tuple[Bound, ...]] = [()]
    for found in each:
        joint = [(*one, *other) for one in joint for other in found][:_MOST_WAYS]
        joint = [one[:MOST_BOUNDS] for one in joint]
    return joint


def beneath(outer: Sequence[Bound], test: Test, negated: bool = False) -> tuple[Bound, ...]:
    """What holds where a test holds, or does not, inside what holds already."""
    found = ways(test, negated)
    return tuple([*outer, *(found[0] if len(found) == 1 else ())][-MOST_BOUNDS:])


def flipped(sign: str) -> str:
    """The sign of a comparison whose sides have changed places."""
    return _FLIPPED.get(sign, sign)


def solved(bounds: Iterable[Bound]) -> tuple[tuple[str, int], ...]:
    """A size for each name, which meet the bounds together; names for which there is none are left out."""
    held: dict[str, list[Bound]] = {}
    for bound in bounds:
        held.setdefault(bound.name, []).append(bound)
    found: dict[str, int] = {}
    for name, group in held.items():
        nearest = (bound.nearest for bound in group if bound.sign != "!=")
        size = next((size for size in nearest if all(bound.met(size) for bound in group)), 0)
        if size > 0:
            found[name] = size
    return tuple(_factors(found))


def _factors(found: dict[str, int]) -> Iterator[tuple[str, int]]:
    """The sizes, those of a product as two that multiply to it or to a little more."""
    single = {name: size for name, size in found.items() if "*" not in name}
    for name, size in found.items():
        if "*" in name:
            one, other = name.split("*")
            known = single.get(other)
            first = single.setdefault(one, -(-size // known) if known else math.isqrt(size))
            single.setdefault(other, -(-size // first))
    yield from single.items()
