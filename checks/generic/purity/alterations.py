"""How an array was changed in place, in words: what is plain from its numbers before and after."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["altered"]

Array = npt.NDArray[Any]
#: Relative: float32 rounds so far where numbers of another precision are kept.
_CLOSE = 1e-6


def altered(before: Array, after: Array) -> str:
    """What became of an array's numbers, as a clause; how many are others where no simple rule gives them.

    Args:
        before: Any shape, bool, whole or real numbers.
        after: Of the same shape.
    """
    if before.dtype.kind not in "fiub" or not before.size:
        return ""
    old, new = before.astype(np.float64).ravel(), after.astype(np.float64).ravel()
    changed = ~((old == new) | (np.isnan(old) & np.isnan(new)))
    count = f"{int(changed.sum())} of {old.size} numbers"
    if not changed.any():
        return ""
    if not np.isfinite(new[changed]).all():
        return f"{count} are not finite"
    if not np.isfinite(old).all():
        return f"{count} are others"
    if not new.any():
        return "all are 0"
    whole = bool(changed.mean() > 0.5)
    if rule := _cut(old, new, changed):
        return f"{count} are cut to {rule}"
    if whole and np.array_equal(np.sort(old), np.sort(new)):
        return "the same numbers in another order"
    if whole and (rule := _linear(old, new)):
        return rule
    return f"{count} are others"


def _cut(old: Array, new: Array, changed: Array) -> str:
    """The range that numbers outside it were brought to; empty where that is not what happened."""
    low, high = float(new.min()), float(new.max())
    if not _same(np.clip(old, low, high), new):
        return ""
    raised, lowered = bool((new[changed] > old[changed]).any()), bool((new[changed] < old[changed]).any())
    if raised and lowered:
        return f"[{low:.6g}, {high:.6g}]"
    return f"{low:.6g} at least" if raised else f"{high:.6g} at most"


def _linear(old: Array, new: Array) -> str:
    """The factor, or the summand, that leads from one to the other; empty where none does."""
    scale = float(old @ new / max(float(old @ old), 1e-300))
    if _same(scale * old, new):
        return f"all times {scale:.6g}"
    shift = float(np.mean(new - old))
    return f"all plus {shift:.6g}" if _same(old + shift, new) else ""


def _same(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * float(np.abs(other).max())))
