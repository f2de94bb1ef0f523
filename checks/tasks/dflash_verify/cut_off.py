"""What is emitted where only the likeliest tokens are drawn from, of all or of what refused drafts leave."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from judge_tui.checks.tasks.dflash_verify.drawn import Array

__all__ = ["CUT"]


def _cut(p: Array, count: int) -> Array:
    """The likeliest tokens alone."""
    places = np.argsort(np.argsort(-p, kind="stable"), kind="stable")
    kept = np.where(places < count, p, 0.0)
    return np.asarray(kept / max(kept.sum(), 1e-300))


def _of_all(p: Array, _siblings: Sequence[int], _temperature: float, *, count: int) -> Array:
    return _cut(p, count)


def _of_the_rest(p: Array, siblings: Sequence[int], _temperature: float, *, count: int) -> Array:
    """The likeliest of what is left alone, after each refusal anew."""
    emitted, left, refused = np.zeros_like(p), _cut(p, count), 1.0
    rest = p.copy()
    for token in siblings:
        emitted[token] += refused * left[token]
        refused *= 1.0 - left[token]
        rest[token] = 0.0
        left = _cut(rest, count)
    return np.asarray(emitted + refused * left)


#: Words, behind "as where" → what is emitted, by p, siblings and temperature.
CUT: Mapping[str, Callable[[Array, Sequence[int], float], Array]] = {
    "the two likeliest tokens alone are drawn from": partial(_of_all, count=2),
    "the three likeliest tokens alone are drawn from": partial(_of_all, count=3),
    "the four likeliest tokens alone are drawn from": partial(_of_all, count=4),
    "the two likeliest tokens of what is left alone are drawn from": partial(_of_the_rest, count=2),
    "the three likeliest tokens of what is left alone are drawn from": partial(_of_the_rest, count=3),
}
