"""Whether answers are wrong where a size is no multiple, or no power of two, and only there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["only_where"]

_UNITS = (2, 4, 8, 16, 32, 64, 128)
#: Different sizes that are right and that are wrong, at least: fewer differ in this by chance.
_RIGHT, _WRONG = 3, 4


def only_where(seen: Iterable[tuple[Mapping[str, int], bool]]) -> str:
    """What the sizes of wrong answers have in common and those of right ones have not, as a clause.

    Args:
        seen: Axis → size of each call, and whether its answer was right.
    """
    calls = list(seen)
    for axis in dict.fromkeys(axis for sizes, _ in calls for axis in sizes):
        right = {sizes[axis] for sizes, fine in calls if fine and axis in sizes}
        wrong = {sizes[axis] for sizes, fine in calls if not fine and axis in sizes}
        if len(right) >= _RIGHT and len(wrong) >= _WRONG and (kind := _kind(right, wrong)):
            return f"wrong wherever {axis} is no {kind}, and only there"
    return ""


def _kind(right: set[int], wrong: set[int]) -> str:
    for unit in _UNITS:
        if all(size % unit == 0 for size in right) and all(size % unit for size in wrong):
            return f"multiple of {unit}"
    return "power of two" if all(map(_power, right)) and not any(map(_power, wrong)) else ""


def _power(size: int) -> bool:
    return size > 0 and size & (size - 1) == 0
