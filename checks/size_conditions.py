"""What the sizes of wrong answers have in common: the simplest condition that tells them from right ones.

No multiple of a unit, no power of two; from a size on, up to one, or both; one size larger than another.
Sizes may be counts that follow from others, such as that of tiles. An answer may be right by chance where the
condition holds, as one of a single row is; it is never wrong where it does not hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import comb

__all__ = ["only_where"]

_UNITS = (2, 4, 8, 16, 32, 64, 128)
#: Different sizes that are right and that are wrong, at least: fewer differ in this by chance.
_RIGHT, _WRONG = 3, 4
#: Calls at least that are wrong where a condition holds, and that it leaves out, and the share of wrong ones.
_MET, _LEFT_OUT, _SHARE = 4, 6, 0.5
#: Chance may put every wrong call among those for which a condition holds once in so many times.
_CHANCE = 100_000

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
    """

    words: str
    met: int
    wrong: int

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
        if len(of_right) >= _RIGHT and len(of_wrong) >= _WRONG and (kind := _kind(of_right, of_wrong)):
            return f"wrong wherever {axis} is no {kind}, and only there"
    found = [*_related(calls, compared), *(_limited(calls) if limits else ())]
    found = [each for each in found if _tells(each, len(calls), wrong)]
    return max(found, key=lambda each: each.share).words if found else ""


def _kind(right: set[int], wrong: set[int]) -> str:
    for unit in _UNITS:
        if all(size % unit == 0 for size in right) and all(size % unit for size in wrong):
            return f"multiple of {unit}"
    return "power of two" if all(map(_power, right)) and not any(map(_power, wrong)) else ""


def _power(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0


def _tells(condition: _Condition, calls: int, wrong: int) -> bool:
    """Whether a condition says something that chance would hardly make so."""
    few = condition.wrong < _MET or calls - condition.met < _LEFT_OUT
    if few or condition.share < _SHARE:
        return False
    return _CHANCE * comb(condition.met, wrong) < comb(calls, wrong)


def _related(
    calls: Sequence[tuple[_Sizes, bool]], compared: Sequence[tuple[str, str]]
) -> Iterator[_Condition]:
    for one, other in compared:
        both = [(sizes[one], sizes[other], fine) for sizes, fine in calls if one in sizes and other in sizes]
        for words, relation in _RELATIONS:
            met = [fine for size, against, fine in both if relation(size, against)]
            if sum(not fine for *_, fine in both) == met.count(False) > 0:
                there = ", and only there" if not any(met) else f" ({_of(met)}), and nowhere else"
                text = f"wrong where {one} is {words} {_than(one, other)}{there}"
                yield _Condition(text, len(met), met.count(False))


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
            yield _Condition(_from(axis, below, least, met), len(met), met.count(False))
        if above is not None:
            met = [fine for size, fine in sizes if size <= most]
            yield _Condition(_up_to(axis, most, above, met), len(met), met.count(False))
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
