"""Entries that rounding decides: no sound answer is held to them, the reference itself goes either way.

A rounded number, the place of the largest of two that are nearly the same, a count of what is over a
threshold: right is what the reference gives where inputs move by what a sound algorithm may lose. A number
that is too large for a dtype is infinite in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.challenges.numbers.comparing import Compared, as_array, compared

__all__ = ["allowing"]

#: How many entries may be off, and how far, as a multiple of what moved inputs do to the reference.
_WIDER = 2

_Array = npt.NDArray[Any]


def allowing(found: Compared, out: Any, truth: Any, losses: Sequence[Any]) -> Compared:
    """How far an answer is off where entries that rounding decides may be either.

    Args:
        found: How far it is off without that.
        out: The answer.
        truth: The reference's.
        losses: What the reference gives in the dtype, and of inputs that are moved.
    """
    mine, right = as_array(out), as_array(truth)
    if mine is None or right is None or mine.shape != right.shape:
        return found
    others = [each for each in map(as_array, losses) if each is not None and each.shape == right.shape]
    if right.dtype.kind in "iub":
        return Compared() if _no_further(mine, right, others) else found
    infinite = _overflown(mine, right, others)
    return compared(np.where(infinite, right, mine), right) if infinite.any() else found


def _no_further(mine: _Array, right: _Array, others: Sequence[_Array]) -> bool:
    """Whether no more whole numbers are off, and no further, than moved inputs make them."""
    count, far = _off(mine, right)
    moved = [_off(each, right) for each in others]
    most, furthest = (max(each, default=0.0) for each in zip(*moved, strict=True)) if moved else (0.0, 0.0)
    return count <= _WIDER * most and far <= _WIDER * furthest and bool(np.all(mine == np.rint(mine)))


def _off(array: _Array, right: _Array) -> tuple[float, float]:
    """How many entries differ, and how far the furthest is off."""
    wide = np.complex128 if array.dtype.kind == "c" else np.float64
    with np.errstate(all="ignore"):
        far = np.abs(array.astype(wide) - right.astype(wide))
    return float(np.count_nonzero(array != right)), float(far.max(initial=0.0))


def _overflown(mine: _Array, right: _Array, others: Sequence[_Array]) -> npt.NDArray[np.bool_]:
    """Where an answer is infinite or no number as the reference itself is in that dtype."""
    odd = ~np.isfinite(mine) & np.isfinite(right)
    alike = [(each == mine) | (np.isnan(each) & np.isnan(mine)) for each in others]
    found: npt.NDArray[np.bool_] = odd & np.any(alike, axis=0) if alike else np.zeros_like(odd)
    return found
