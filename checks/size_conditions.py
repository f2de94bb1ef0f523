"""What the sizes of wrong answers have in common: the simplest condition that tells them from right ones.

A multiple of a unit, or none; no power of two; from a size on, up to one, or both; one larger than another.
Sizes may be counts that follow from others, such as that of tiles. An answer may be right by chance where the
condition holds, as one of a single row is; it is never wrong where it does not hold. Two conditions together
are told where each alone leaves many right calls in.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import comb

__all__ = ["only_where", "where_masked"]

_UNITS = (2, 4, 8, 16, 32, 64, 128)
#: Different sizes that are right and that are wrong, at least: fewer differ in this by chance.
_RIGHT, _WRONG = 3, 4
#: Calls at least that are wrong where a condition holds, and that it leaves out, and the share of wrong ones.
_MET, _LEFT_OUT, _SHARE = 4, 6, 0.5
#: Different sizes at least of which each lies in one half of a unit or in the other by chance.
_HALVES = 14
#: Wrong calls with a mask, or without, and right ones of the other kind, at least: chance makes none so.
_OF_ONE_MASK = 12
#: Calls of a size that are right by chance, of those that are wrong.
_BY_CHANCE = 0.34
#: Chance may put every wrong call among those for which a condition holds once in so many times.
_CHANCE = 100_000
#: The same of two conditions together, of which there are many more; of the right calls that the better one
#: of the two leaves in, they leave at most this share.
_TOGETHER, _LEFT_IN = 100, 0.5

#: What a product of axes has in its name: between two limits a product is told where all are wrong alone.
_PRODUCT = " · "

#: Axis, or what is counted → how many.
_Sizes = Mapping[str, int]
_RELATIONS: tuple[tuple[str, Callable[[int, int], bool]], ...] = (
    ("less than", lambda one, other: one < other),
    ("more than", lambda one, other: one > other),
    ("other than", lambda one, other: one != other),
)


@dataclass(frozen=True, slots=True)
class _Condition:
    """A condition that every wrong call meets.

    Attributes:
        words: As a clause that says where answers are wrong.
        met: Calls that meet it, and how many of them are wrong.
        alone: As a clause of its own, where it may stand with another.
        holds: Of each call, whether it meets it.
        limited: The axis whose limit in it was chosen so that it holds; empty where there is none.
    """

    words: str
    met: int
    wrong: int
    alone: str = ""
    holds: tuple[bool, ...] = ()
    limited: str = ""

    @property
    def share(self) -> float:
        """The share of wrong calls among those that meet it."""
        return self.wrong / self.met


def only_where(
    seen: Iterable[tuple[_Sizes, bool]], *, compared: Sequence[tuple[str, str]] = (), limits: bool = False
) -> str:
    """What the sizes of wrong answers have in common and those of right ones have not, as a clause.

    Args:
        seen: Axis → size of each call, and whether its answer was right. What a count is of is said in words.
        compared: Pairs of names of which one may have to be larger than the other.
        limits: Whether sizes from one on, or up to one, are looked for as well.
    """
    calls = list(seen)
    wrong = sum(not fine for _, fine in calls)
    for axis in dict.fromkeys(axis for sizes, _ in calls for axis in sizes if " " not in axis):
        of_right = {sizes[axis] for sizes, fine in calls if fine and axis in sizes}
        of_wrong = {sizes[axis] for sizes, fine in calls if not fine and axis in sizes}
        if len(of_right) < _RIGHT or len(of_wrong) < _WRONG:
            continue
        if kind := _kind(of_right, of_wrong):
            return f"wrong wherever {axis} is no {kind}, and only there"
        of = [(sizes[axis], fine) for sizes, fine in calls if axis in sizes]
        mostly = {size for size in of_wrong if sum(fine for at, fine in of if at == size) <= _BY_CHANCE * sum(
            not fine for at, fine in of if at == size)}  # fmt: skip
        many = len(of_right | of_wrong) >= _HALVES
        if many and mostly == of_wrong and (unit := _half(of_right - mostly, of_wrong)):
            met = [fine for size, fine in of if 0 < size % unit <= unit // 2]
            return f"wrong where {axis} is 1 to {unit // 2} above a multiple of {unit}{_there(met)}"
    simple = [*_related(calls, compared), *_multiples(calls), *(_limited(calls) if limits else ())]
    simple += _several(calls)
    found = [each for each in simple if _tells(each, len(calls), wrong)]
    both = [each for each in _together(calls, simple) if _tells(each, len(calls), wrong, _TOGETHER)]
    return max((*found, *both), key=lambda each: each.share).words if found or both else ""


def where_masked(
    seen: Iterable[tuple[bool, _Sizes, bool]], *, compared: Sequence[tuple[str, str]] = ()
) -> str:
    """The same of calls with a causal mask and without: whether answers are wrong with one of these alone.

    Args:
        seen: Whether there is a mask, sizes of each call, and whether its answer was right.
        compared: As above.
    """
    calls = list(seen)
    wrong = Counter(masked for masked, _, fine in calls if not fine)
    every = Counter(masked for masked, _, _ in calls)
    alone = [masked for masked in (True, False) if wrong[masked] >= _OF_ONE_MASK and not wrong[not masked]]
    if not alone or every[not alone[0]] < _OF_ONE_MASK:
        return only_where(((sizes, fine) for _, sizes, fine in calls), compared=compared, limits=True)
    of = [(sizes, fine) for masked, sizes, fine in calls if masked is alone[0]]
    mask = "with the causal mask alone" if alone[0] else "without the mask alone"
    told = only_where(of, compared=compared, limits=True)
    return f"{mask}, and there {told}" if told else f"wrong {mask}"


def _kind(right: set[int], wrong: set[int]) -> str:
    for unit in _UNITS:
        if all(size % unit == 0 for size in right) and all(size % unit for size in wrong):
            return f"multiple of {unit}"
    return "power of two" if all(map(_power, right)) and not any(map(_power, wrong)) else ""


def _half(right: set[int], wrong: set[int]) -> int:
    """The unit over whose multiples wrong sizes are by half of it at most, and no right one is; 0 for none.

    Sizes below the unit alone are told by their limit.
    """
    for unit in _UNITS[2:]:
        if (
            all(0 < size % unit <= unit // 2 for size in wrong)
            and not any(0 < size % unit <= unit // 2 for size in right)
            and max(wrong) > unit
            and any(size % unit > unit // 2 for size in right)
        ):
            return unit
    return 0


def _power(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0


def _tells(condition: _Condition, calls: int, wrong: int, rarer: int = 1) -> bool:
    """Whether a condition says something that chance would hardly make so, or ``rarer`` times as hardly."""
    few = condition.wrong < _MET or calls - condition.met < _LEFT_OUT
    if few or condition.share < _SHARE:
        return False
    return rarer * _CHANCE * comb(condition.met, wrong) < comb(calls, wrong)


def _related(
    calls: Sequence[tuple[_Sizes, bool]], compared: Sequence[tuple[str, str]]
) -> Iterator[_Condition]:
    wrong = sum(not fine for _, fine in calls)
    for one, other in compared:
        for words, relation in _RELATIONS:
            alone = f"{one} is {words} {_than(one, other)}"
            yield from _meeting(calls, wrong, alone, partial(_holds, relation, one, other))
        alone = f"{other} is no multiple of {one}"
        yield from _meeting(calls, wrong, alone, partial(_holds, _rest, one, other))


def _multiples(calls: Sequence[tuple[_Sizes, bool]]) -> Iterator[_Condition]:
    """The largest unit of which all wrong sizes of an axis are multiples, beside no other condition."""
    wrong = [sizes for sizes, fine in calls if not fine]
    for axis in dict.fromkeys(axis for sizes, _ in calls for axis in sizes if " " not in axis):
        off = {sizes.get(axis, 1) for sizes in wrong}
        unit = max((unit for unit in _UNITS if not any(size % unit for size in off)), default=0)
        if unit and len(off) >= _RIGHT:
            holds = partial(_is_multiple, axis, unit)
            for each in _meeting(calls, len(wrong), f"{axis} is a multiple of {unit}", holds):
                yield replace(each, alone="")


def _is_multiple(axis: str, unit: int, sizes: _Sizes) -> bool:
    return axis in sizes and sizes[axis] % unit == 0


def _rest(one: int, other: int) -> bool:
    return other % max(one, 1) > 0


def _holds(relation: Callable[[int, int], bool], one: str, other: str, sizes: _Sizes) -> bool:
    return one in sizes and other in sizes and relation(sizes[one], sizes[other])


def _meeting(
    calls: Sequence[tuple[_Sizes, bool]], wrong: int, alone: str, holds: Callable[[_Sizes], bool]
) -> Iterator[_Condition]:
    """The condition, where every wrong call meets it."""
    met = tuple(holds(sizes) for sizes, _ in calls)
    fine = [right for (_, right), holding in zip(calls, met, strict=True) if holding]
    if fine.count(False) == wrong > 0:
        yield _Condition(f"wrong where {alone}{_there(fine)}", len(fine), wrong, alone, met)


def _there(met: Sequence[bool]) -> str:
    return ", and only there" if not any(met) else f" ({_of(met)}), and nowhere else"


def _together(calls: Sequence[tuple[_Sizes, bool]], simple: Sequence[_Condition]) -> Iterator[_Condition]:
    """Two conditions at once, where they leave far fewer right calls in than either.

    A limit is chosen so that it holds, and may cut off what is right by chance: it counts beside what is said
    of its own axis.
    """
    for one, other in itertools.combinations([each for each in simple if each.alone], 2):
        holds = tuple(map(all, zip(one.holds, other.holds, strict=True)))
        fine = [right for (_, right), holding in zip(calls, holds, strict=True) if holding]
        left = min(each.met - each.wrong for each in (one, other))
        limits = [
            (each.limited, of.alone.split()) for each, of in ((one, other), (other, one)) if each.limited
        ]
        related = len(limits) < 2 and all(axis in said for axis, said in limits)
        if related and sum(fine) <= _LEFT_IN * left > 0:
            words = f"wrong where {one.alone} and {other.alone}{_there(fine)}"
            yield _Condition(words, len(fine), fine.count(False), holds=holds)


def _several(calls: Sequence[tuple[_Sizes, bool]]) -> Iterator[_Condition]:
    """Two axes that are both more than 1: one is taken for the other where each is."""
    wrong = sum(not fine for _, fine in calls)
    axes = dict.fromkeys(axis for sizes, _ in calls for axis in sizes if " " not in axis)
    for one, other in itertools.combinations(axes, 2):
        for each in _meeting(calls, wrong, f"{one} > 1 and {other} > 1", partial(_both, one, other)):
            left_out = [sizes for sizes, _ in calls if not _both(one, other, sizes)]
            if all(sum(sizes.get(axis, 0) > 1 for sizes in left_out) >= _RIGHT for axis in (one, other)):
                yield replace(each, alone="")


def _both(one: str, other: str, sizes: _Sizes) -> bool:
    return sizes.get(one, 0) > 1 and sizes.get(other, 0) > 1


def _than(one: str, other: str) -> str:
    """The other one's name, of which nothing is said twice."""
    what, _, _ = one.partition(" of the ")
    same, _, whose = other.partition(" of the ")
    return f"that of the {whose}" if whose and what == same else other


def _limited(calls: Sequence[tuple[_Sizes, bool]]) -> Iterator[_Condition]:
    """Sizes from one on, or up to one, that every wrong call has."""
    for axis in dict.fromkeys(axis for sizes, _ in calls for axis in sizes):
        sizes = [(size[axis], fine) for size, fine in calls if axis in size]
        off = [size for size, fine in sizes if not fine]
        if not off or len(off) < sum(not fine for _, fine in calls):
            continue
        least, most = min(off), max(off)
        below = max((size for size, _ in sizes if size < least), default=None)
        above = min((size for size, _ in sizes if size > most), default=None)
        if below is not None:
            met = [fine for size, fine in sizes if size >= least]
            holds = tuple(size.get(axis, 0) >= least for size, _ in calls)
            alone = f"{axis} is {least} or more"
            words = _from(axis, below, least, met)
            yield _Condition(words, len(met), met.count(False), alone, holds, limited=axis)
        if above is not None:
            met = [fine for size, fine in sizes if size <= most]
            holds = tuple(axis in size and size[axis] <= most for size, _ in calls)
            alone = f"{axis} is {most} or less"
            words = _up_to(axis, most, above, met)
            yield _Condition(words, len(met), met.count(False), alone, holds, limited=axis)
        if _PRODUCT in axis and any(fine for size, fine in sizes if least <= size <= most):
            continue
        outside = {size for size, _ in sizes if not least <= size <= most}
        if min(sum(size < least for size in outside), sum(size > most for size in outside)) >= _RIGHT:
            met = [fine for size, fine in sizes if least <= size <= most]
            yield _Condition(_within(axis, least, most, met), len(met), met.count(False))


def _from(axis: str, below: int, least: int, met: Sequence[bool]) -> str:
    some = f" ({_of(met)})" if any(met) else ""
    if " " in axis:
        return f"right where {axis} is {below} or less, wrong from {least} on{some}"
    return f"right up to {axis} = {below}, wrong from {axis} = {least} on{some}"


def _up_to(axis: str, most: int, above: int, met: Sequence[bool]) -> str:
    some = f" ({_of(met)})" if any(met) else ""
    if " " in axis:
        return f"wrong where {axis} is {most} or less{some}, right from {above} on"
    return f"wrong up to {axis} = {most}{some}, right from {axis} = {above} on"


def _within(axis: str, least: int, most: int, met: Sequence[bool]) -> str:
    some = f" ({_of(met)})" if any(met) else ""
    if " " in axis:
        return f"wrong where {axis} is {least} to {most}{some}, right where it is less or more"
    return f"wrong for {axis} from {least} to {most}{some}, right for smaller and larger"


def _of(met: Sequence[bool]) -> str:
    return f"in {met.count(False)} of {len(met)} calls"
