"""Where keys and values that were stored have gone: what stands in the wrong places, and in which."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["misplaced", "places", "span"]

Array = npt.NDArray[Any]
#: How near to 1 the cosine of a row and another must be to be that row: codes of four bits are 0.98.
_SAME = 0.95
#: How many of the wrong rows a word must hold for.
_MOST, _HALF = 0.9, 0.4
#: Rows that are compared with all others at most.
_ROWS = 400


def misplaced(got: Array, truth: Array, limit: float) -> str:
    """What is wrong with rows that were read back, as a clause; empty where nothing is.

    Args:
        got: (B, H, N, D), as read back.
        truth: What went in, of the same shape.
        limit: Relative error of a row that is right.
    """
    if got.shape != truth.shape:
        return ""
    got, truth = got.astype(np.float64), truth.astype(np.float64)
    size = np.maximum(np.linalg.norm(truth, axis=-1), 1e-300)
    with np.errstate(invalid="ignore"):
        wrong = ~(np.linalg.norm(got - truth, axis=-1) <= limit * size)
    if not wrong.any():
        return ""
    return f"{places(wrong)}: {_held(got, truth, wrong) or 'wrong'}"


def places(wrong: npt.NDArray[np.bool_]) -> str:
    """Which rows of (B, H, N) are wrong: axes along which not all are, as words."""
    told = []
    for axis, name in ((2, "token"), (1, "head"), (0, "sequence")):
        others = tuple(i for i in range(3) if i != axis)
        at = np.flatnonzero(np.any(wrong, axis=others))
        if len(at) < wrong.shape[axis]:
            told.append(span(name, at.tolist(), wrong.shape[axis]))
    each = np.asarray(wrong.any(axis=2))
    if not np.array_equal(each, np.logical_and.outer(each.any(axis=1), each.any(axis=0))):
        told.append(f"{int(each.sum())} of {each.size} heads of all sequences")
    return ", ".join(told) if told else "all rows"


def span(name: str, at: Sequence[int], size: int) -> str:
    """Indices ``at`` along an axis of so many, as words: a range, or the first of them."""
    if len(at) == 1:
        return f"{name} {at[0]}"
    if list(at) == list(range(at[0], at[-1] + 1)):
        return f"{name}s {at[0]} to {at[-1]} of {size}"
    return f"{name}s {', '.join(map(str, at[:4]))}{', …' if len(at) > 4 else ''} of {size}"


def _held(got: Array, truth: Array, wrong: Array) -> str:
    """What stands there instead."""
    places = np.argwhere(wrong)[:_ROWS]
    rows, own = got[tuple(places.T)], truth[tuple(places.T)]
    if not np.isfinite(rows).all():
        return "not finite"
    if (~rows.any(axis=-1)).mean() >= _MOST:
        return "zeros"
    flat = truth.reshape(-1, truth.shape[-1])
    alike = _unit(rows) @ _unit(flat).T
    best = alike.argmax(axis=1)
    found = alike[np.arange(len(rows)), best] >= _SAME
    if (np.abs((_unit(rows) * _unit(own)).sum(axis=-1)) >= _SAME).mean() >= _MOST:
        factor = (rows * own).sum(axis=-1) / np.maximum((own * own).sum(axis=-1), 1e-300)
        if np.ptp(factor) > 1e-3:
            return f"right but for factors of {factor.min():.3g} to {factor.max():.3g}"
        return f"right but for a factor of {factor[0]:.3g}"
    if found.mean() < _HALF:
        return ""
    mostly = "mostly " if found.mean() < _MOST else ""
    moved = np.stack(np.unravel_index(best, truth.shape[:3]), axis=1) - places
    names = ("sequence", "head", "token")
    others = [name for axis, name in enumerate(names) if (moved[found][:, axis] != 0).mean() > 1 - _MOST]
    told = f"{mostly}what another {' and '.join(others)} had" if others else ""
    steps = moved[found][:, 2]
    if others == ["token"] and np.ptp(steps) == 0:
        told = f"{mostly}what stood {abs(int(steps[0]))} {'later' if steps[0] > 0 else 'earlier'}"
    return told


def _unit(rows: Array) -> Array:
    return np.asarray(rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-300))
