"""Sizes between those of the cases, so that who knows the cases does not know what is asked.

What holds of a size, and between sizes, in every case holds of what is drawn as well: a right answer may rest
on it though no line of the reference says so.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np

__all__ = ["between", "is_size"]

#: How many draws are made for each that is wanted, and how far one is moved until it is of the right kind.
_TRIES = 8
_STEPS = 20_000
_LARGEST_PRIME = 10**6

Sizes = Mapping[str, Any]


def between(cases: Sequence[Sizes], rng: np.random.Generator, count: int) -> Iterator[dict[str, Any]]:
    """Sizes between those of two cases.

    Args:
        cases: The author's; those of other keys than the first, or without any size, are left alone.
        rng: Draws them.
        count: How many are wanted.
    """
    varied = [case for case in cases if _whole(case) and case.keys() == cases[0].keys()]
    seen = [dict(case) for case in varied]
    tries = _TRIES * count if len(varied) > 1 else 0
    for _ in range(tries):
        one, other = (varied[int(index)] for index in rng.choice(len(varied), 2, replace=False))
        made = _mixed(one, other, varied, float(rng.random()))
        if made not in seen and _apart(one) == _apart(other) and _related(made, varied):
            seen.append(made)
            yield made
            if len(seen) == len(varied) + count:
                return


def is_size(value: Any) -> bool:
    """Whether it is a whole number, which a case may have as a size."""
    return isinstance(value, int) and not isinstance(value, bool)


def _mixed(one: Sizes, other: Sizes, varied: Sequence[Sizes], share: float) -> dict[str, Any]:
    """The sizes of one case on their way to another's."""
    made = {
        key: _of_their_kind(math.floor(value + share * (other[key] - value) + 0.5), [c[key] for c in varied])
        if is_size(value) and is_size(other[key])
        else value
        for key, value in one.items()
    }
    for of, by in permutations(_sizes(made, varied), 2):
        if all(_divides(case[of], case[by]) for case in varied) and made[by] > 0:
            made[of] = max(made[of] - made[of] % made[by], made[by])
    return made


def _whole(case: Sizes) -> bool:
    return any(map(is_size, case.values()))


def _apart(case: Sizes) -> dict[str, Any]:
    """What a case holds of shapes and the like, with which its sizes may hang together."""
    return {key: value for key, value in case.items() if isinstance(value, (tuple, list, dict))}


def _of_their_kind(value: int, all_: Sequence[Any]) -> int:
    """A size near one that is all that the others are: a power of two, a square, a prime, odd, a multiple."""
    known = [int(item) for item in all_ if is_size(item)]
    low, high = min(known), max(known)
    if low == high:
        return low
    if len(known) < len(all_):
        return value
    kinds = [kind for kind in _kinds(known) if all(map(kind, known))]
    if _is_power_of_two in kinds:
        value = 1 << max(value, 1).bit_length() - 1
    # the smallest is of all these kinds
    down = range(min(value, high), max(low, value - _STEPS) - 1, -1)
    return next((size for size in down if all(kind(size) for kind in kinds)), low)


def _kinds(known: Sequence[int]) -> Iterator[Callable[[int], bool]]:
    """What sizes may be, all of them, and not by chance."""
    step = reduce(math.gcd, known)
    if max(known) > 2:
        yield _is_power_of_two
    if max(known) <= _LARGEST_PRIME:
        yield _is_prime
    if len(set(known)) > 2:
        yield lambda size: size >= 0 and math.isqrt(size) ** 2 == size
    yield lambda size: size % 2 == 1
    if step > 1:
        yield lambda size: size % step == 0


def _is_power_of_two(size: int) -> bool:
    return size > 0 and not size & (size - 1)


def _is_prime(size: int) -> bool:
    return size > 1 and all(size % factor for factor in range(2, math.isqrt(size) + 1))


def _related(made: Sizes, varied: Sequence[Sizes]) -> bool:
    """Whether two sizes stand to each other as they do in every case: k ≤ n, heads divide the width."""
    names = _sizes(made, varied)
    kept = all(_of_their_kind(made[key], [case[key] for case in varied]) == made[key] for key in names)
    return (
        kept
        and all(
            relation(made[one], made[other])
            for one, other in permutations(names, 2)
            for relation in _RELATIONS
            if all(relation(case[one], case[other]) for case in varied)
        )
        and all(
            made[one] - made[other] == varied[0][one] - varied[0][other]
            for one, other in permutations(names, 2)
            if len({case[one] - case[other] for case in varied}) == 1
        )
    )


def _sizes(made: Sizes, varied: Sequence[Sizes]) -> list[str]:
    """Names of what is a size in every case."""
    return [key for key in made if all(is_size(case[key]) for case in (made, *varied))]


def _divides(one: int, other: int) -> bool:
    return other > 0 and one % other == 0


_RELATIONS: tuple[Callable[[int, int], bool], ...] = (operator.lt, operator.le, _divides)
