"""How an array was changed in place, in words: what is plain from its numbers before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["altered"]

Array = npt.NDArray[Any]
#: Relative: float32 rounds so far where numbers of another precision are kept.
_CLOSE = 1e-6
#: Numbers of a row from which on a factor of each says something.
_TOLD = 3
#: What is usually added to a variance.
_EPS = 1e-5


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
    if before.ndim and (rule := _of_rows(before.astype(np.float64), after.astype(np.float64))):
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


def _softmax(x: Array) -> Array:
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


#: What may become of numbers (..., n), row by row along the last axis or each by itself.
_RULES: Mapping[str, Callable[[Array], Array]] = {
    "every row centred: its mean is taken off": lambda x: x - x.mean(axis=-1, keepdims=True),
    "every row has its maximum taken off": lambda x: x - x.max(axis=-1, keepdims=True),
    "exp(x − max) of every row": lambda x: np.exp(x - x.max(axis=-1, keepdims=True)),
    "the softmax of every row": _softmax,
    "running sums along every row": lambda x: np.cumsum(x, axis=-1),
    "exp of all": np.exp,
    "the magnitudes of all": np.abs,
    "the squares of all": np.square,
    "all rounded to whole numbers": np.rint,
    "all rounded to 16 bits": lambda x: x.astype(np.float16).astype(np.float64),
}


def _of_rows(before: Array, after: Array) -> str:
    """The rule by which rows, or all numbers, became others; empty where none is known."""
    with np.errstate(all="ignore"):
        for words, rule in _RULES.items():
            if _same(rule(before), after):
                return words
        if before.shape[-1] < _TOLD:
            return ""
        centred = before - before.mean(axis=-1, keepdims=True)
        for words, rows in (("every row centred and divided by a number of its own", centred),
                            ("every row multiplied by a number of its own", before)):  # fmt: skip
            factor = (rows * after).sum(axis=-1, keepdims=True) / (rows * rows).sum(axis=-1, keepdims=True)
            if np.isfinite(factor).all() and _same(factor * rows, after):
                deviations = _same(factor**-2.0, (centred**2).mean(axis=-1, keepdims=True) + _EPS)
                return f"{words}{', its deviation: it is normalised' * (rows is centred and deviations)}"
    return ""


def _same(one: Array, other: Array) -> bool:
    return bool(np.allclose(one, other, rtol=_CLOSE, atol=_CLOSE * float(np.abs(other).max())))
