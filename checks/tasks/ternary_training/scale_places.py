"""Scales that are right ones of other groups: from which group each wrong one comes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["other_groups"]

Array = npt.NDArray[Any]
#: Row and group → those whose scale stands there.
_Place = Callable[[Array, Array], tuple[Array, Array]]

#: Relative: rounding of float32, and far below the spread of scales.
_SAME = 1e-5
#: How many of the wrong groups a rule must explain.
_MOST = 0.98
#: Periods and distances that are tried, less one.
_PERIODS = 17


def other_groups(answers: Sequence[tuple[Array, Array]], size: int) -> str:
    """Which groups carry the scale of another group along the inputs, as a clause; empty where no rule fits.

    Args:
        answers: Latent weights and their projection, (out, in) each.
        size: Weights per group.
    """
    told: set[str] = set()
    first = np.inf
    for weight, projected in answers:
        right, seen = (
            _by_group(np.abs(each), size, how) for each, how in ((weight, "mean"), (projected, "max"))
        )
        shown = seen > 0
        wrong = shown & ~np.isclose(seen, right, rtol=_SAME, atol=0.0)
        if not wrong.any():
            continue
        rules = [words for words, at in _rules(right.shape) if _fits(seen, right, wrong, at)]
        if not rules:
            return ""
        told = told & set(rules) if told else set(rules)
        first = min(first, int(np.flatnonzero(wrong.any(axis=0))[0]))
        if not told:
            return ""
    if not told:
        return ""
    words = min(told, key=len)
    since = f"from group {first:.0f} of a row on, " if first else ""
    return f"{since}each group has the scale of {words}"


def _by_group(values: Array, size: int, how: str) -> Array:
    """(out, groups)."""
    parts = [values[:, start : start + size] for start in range(0, values.shape[1], size)]
    return np.stack([part.mean(axis=1) if how == "mean" else part.max(axis=1) for part in parts], axis=1)


def _fits(seen: Array, right: Array, wrong: Array, at: _Place) -> bool:
    rows, groups = np.nonzero(wrong)
    with np.errstate(invalid="ignore"):
        close = np.isclose(seen[rows, groups], right[at(rows, groups)], rtol=_SAME, atol=0.0)
    return bool(close.mean() >= _MOST)


def _rules(shape: tuple[int, ...]) -> Iterator[tuple[str, _Place]]:
    """In words, and the (row, group) whose scale stands at a row and a group."""
    rows, groups = shape
    for step, words in ((-1, "the one before"), (1, "the one behind")):
        yield words, _moved(step, groups)
        yield f"{words} in its column, of another row", _other_row(step, rows)
    yield "the first group of its row", lambda r, g: (r, 0 * g)
    yield "the last group of its row", lambda r, g: (r, 0 * g + groups - 1)
    yield "the first row", lambda r, g: (0 * r, g)
    for period in range(2, min(groups, _PERIODS)):
        yield f"group g % {period} of its row, g its own number", _repeated(period)
    for step in range(2, min(groups, _PERIODS)):
        yield f"the one {step} before", _moved(-step, groups)
    yield "another, as if scales were stored by columns", lambda r, g: np.divmod(g * rows + r, groups)


def _moved(step: int, groups: int) -> _Place:
    return lambda r, g: (r, np.clip(g + step, 0, groups - 1))


def _other_row(step: int, rows: int) -> _Place:
    return lambda r, g: ((r + step) % rows, g)


def _repeated(period: int) -> _Place:
    return lambda r, g: (r, g % period)
