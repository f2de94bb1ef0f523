"""Entries chosen in another order: of equal ones one alone, by another key, merged place by place."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from math import lgamma
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.answered_rows import Row
from judge_tui.checks.tasks.fuse.by_entry import merged_place_by_place
from judge_tui.checks.tasks.fuse.hard_rows import keys
from judge_tui.checks.tasks.fuse.readings import Reading

__all__ = ["READINGS"]

#: Leading bits that may be all that is looked at.
_BITS = (30, 28, 26, 24, 22, 20, 18, 16)


def _values_once(row: Row) -> set[Hashable] | None:
    """Of equal logits one alone is chosen."""
    values = np.unique(row.logits + np.float32(0.0))[::-1][: row.count]
    if len(values) < row.count:
        return None
    return {"once"} if (row.picked == values).all() else set()


def _once_words(_one: Hashable) -> str:
    return "of equal logits one alone is chosen, and smaller ones stand for the others"


def _place_by_place(row: Row) -> set[Hashable] | None:
    found = merged_place_by_place(row.logits, row.indices)
    return None if found is None else set(found)


def _place_words(one: Hashable) -> str:
    told = f"sorted lists of {one} are merged place by place, the larger of both at each"
    return f"{told}, so that what is next to it is lost (one of them has to be reversed)"


def _by_another_key(row: Row) -> set[Hashable]:
    """Orders that give this answer, whichever of equal ones come first."""
    with np.errstate(all="ignore"):
        found: set[Hashable] = {name for name in _KEYS if _chosen_by(row, _value(row, name))}
    return found | {bits for bits in _BITS if _chosen_by(row, _value(row, bits))}


def _value(row: Row, one: Hashable) -> npt.NDArray[Any]:
    if isinstance(one, int):
        return keys(row.logits) >> np.uint32(32 - one)
    with np.errstate(all="ignore"):
        return _KEYS[str(one)](row.logits)


def _chosen_by(row: Row, value: npt.NDArray[Any]) -> bool:
    """Whether the largest of these values were chosen, and in their order where none is missing."""
    given, wanted = value[row.indices], np.sort(value)[::-1][: row.count]
    return bool(((np.sort(given)[::-1] if len(row.missing) else given) == wanted).all())


def _others(row: Row, one: Hashable) -> int:
    """How many logits that were not chosen are as good by an order as those that were."""
    value = _value(row, one)
    return int((value >= value[row.indices].min()).sum()) - row.count


def _luck(row: Row, one: Hashable) -> float:
    """How likely the right entries are among those that an order takes for equal; 0 in a sorted row."""
    steps = np.diff(row.logits)
    if (steps >= 0).all() or (steps <= 0).all():
        return 0.0
    value, least = _value(row, one), row.logits[row.order[-1]]
    group = row.logits[value == np.sort(value)[::-1][row.count - 1]]
    above, equal = int((group > least).sum()), int((group == least).sum())
    here = row.count - int((row.logits > least).sum()) + above
    return _ways(equal, here - above) - _ways(len(group), here)


def _ways(many: int, few: int) -> float:
    """The logarithm of the number of ways to choose a few of many."""
    return lgamma(many + 1) - lgamma(few + 1) - lgamma(many - few + 1)


def _key_words(one: Hashable) -> str:
    told = f"by their leading {one} bits alone" if isinstance(one, int) else one
    return f"logits are chosen {told}"


def _likelier_key(one: Hashable) -> tuple[bool, int]:
    return (True, -one) if isinstance(one, int) else (False, list(_KEYS).index(str(one)))


def _bfloat16(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    bits = logits.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) & np.uint32(0xFFFF0000)).view(np.float32)


_KEYS: dict[str, Callable[[npt.NDArray[np.float32]], npt.NDArray[np.generic]]] = {
    "the smallest first, by −x": lambda x: -x,
    "by their size without the sign": np.abs,
    "by their bits as signed integers: those below zero in reverse": lambda x: x.view(np.int32),
    "by their bits as unsigned integers: those below zero come first, in reverse": lambda x: x.view(
        np.uint32
    ),
    "by their exponentials exp(x − max) in float32, equal where these vanish": lambda x: np.exp(x - x.max()),
    "by their exponentials exp(x) in float32, equal where these overflow or vanish": np.exp,
    "as integers, without their fraction": np.trunc,
    "as they are rounded to float16": lambda x: x.astype(np.float16),
    "as they are rounded to bfloat16": _bfloat16,
    "as they are rounded to bfloat16 (cut off)": lambda x: (x.view(np.uint32) & np.uint32(0xFFFF0000)).view(
        np.float32
    ),
}


READINGS: tuple[Reading, ...] = (
    Reading(_values_once, _once_words),
    Reading(_place_by_place, _place_words),
    Reading(_by_another_key, _key_words, _likelier_key, _others, _luck),
)
