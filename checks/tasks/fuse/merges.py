"""Merging two softmax statistics, rightly and in the ways in which it is got wrong, and the orders of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

__all__ = [
    "ORDERS",
    "WRONG",
    "Merge",
    "Order",
    "Parts",
    "difference",
    "down",
    "one_by_one",
    "orders",
    "right",
]

Floats = npt.NDArray[np.float64]
#: m and l, of as many parts each.
Parts = tuple[Floats, Floats]
#: m and l of one side and of the other → those of both, as the first side has them then.
Merge = Callable[[Floats, Floats, Floats, Floats], Parts]
#: Merges all parts along the last axis, as the first lane ends it.
Order = Callable[[Merge, Parts], Parts]


def difference(one: Floats, other: Floats) -> Floats:
    """A difference of maxima, of which −inf minus −inf is 0."""
    return np.where(one == other, 0.0, one - other)


def right(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    """Both rescaled to the larger maximum."""
    top = np.maximum(m, other)
    return top, s * np.exp(difference(m, top)) + more * np.exp(difference(other, top))


def _plain(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    return np.maximum(m, other), s + more


def _reversed(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    top = np.maximum(m, other)
    # A part without any logit has no sum that could grow.
    own, its = (np.where(x > 0, x * np.exp(difference(top, y)), 0.0) for x, y in ((s, m), (more, other)))
    return top, own + its


def _stale(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    return m, right(m, s, other, more)[1]


def _own_alone(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    top = np.maximum(m, other)
    return top, s * np.exp(difference(m, top)) + more


def _other_alone(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    top = np.maximum(m, other)
    return top, s + more * np.exp(difference(other, top))


def _exchanged(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    top = np.maximum(m, other)
    return top, s * np.exp(difference(other, top)) + more * np.exp(difference(m, top))


def _one_left(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    return np.maximum(m, other), s


def _larger_alone(m: Floats, s: Floats, other: Floats, more: Floats) -> Parts:
    return np.maximum(m, other), np.where(m >= other, s, more)


#: How statistics are merged, after "the sums … are" → what comes of two.
WRONG: dict[str, Merge] = {
    "merged without rescaling them by exp(m_part − m)": _plain,
    "rescaled by exp(m − m_part), the wrong way, when they are merged": _reversed,
    "merged step by step, but rescaled each time by a lane's own maximum, not the merged one": _stale,
    "merged with one side rescaled alone, its own": _own_alone,
    "merged with one side rescaled alone, the other's": _other_alone,
    "rescaled by each other's factor when they are merged": _exchanged,
    "left as one part's when maxima are merged": _one_left,
    "dropped but for those of the larger maxima": _larger_alone,
}


#: Those of which the order does not matter.
_ANY_ORDER = frozenset({_plain, _reversed, _one_left, _larger_alone})


def down(merge: Merge, parts: Parts) -> Parts:
    """A butterfly of strides n/2 … 1 along the last axis, as the first lane ends it."""
    return _butterfly(merge, parts, reversed(_strides(parts[0].shape[-1])))


def _up(merge: Merge, parts: Parts) -> Parts:
    """The same of strides 1 … n/2."""
    return _butterfly(merge, parts, _strides(parts[0].shape[-1]))


def _strides(count: int) -> list[int]:
    return [1 << bit for bit in range(count.bit_length() - 1)]


def _butterfly(merge: Merge, parts: Parts, strides: Iterable[int]) -> Parts:
    (top, total), lanes = parts, np.arange(parts[0].shape[-1])
    for stride in strides:
        partner = lanes ^ stride
        top, total = merge(top, total, top[..., partner], total[..., partner])
    return top[..., 0], total[..., 0]


def one_by_one(merge: Merge, parts: Parts) -> Parts:
    """Each into the first, in order."""
    top, total = parts
    m, s = top[..., 0], total[..., 0]
    for place in range(1, top.shape[-1]):
        m, s = merge(m, s, top[..., place], total[..., place])
    return m, s


ORDERS: tuple[Order, ...] = (down, _up)


def orders(merge: Merge) -> tuple[Order, ...]:
    """The orders in which it gives something else; a single one where that does not matter."""
    return ORDERS[:1] if merge in _ANY_ORDER else ORDERS
