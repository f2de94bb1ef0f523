"""Whether normalised rows take their mean, their rstd or all of their numbers from other rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.backwards import reference
from judge_tui.checks.tasks.backwards.passes import backward, draw, eps_of, forward
from judge_tui.checks.tasks.backwards.reference import Batch

__all__ = ["normalised_by_others", "which_rows"]

Array = npt.NDArray[Any]
_SAME = 1e-7
#: Rows of a draw at least and at most, each a call where they are read off dgamma, and its features at least.
_ROWS, _FEATURES = (3, 100), 3
#: How many rows tell a rule best.
_USUAL = 40


def normalised_by_others(bench: Bench, shapes: Sequence[tuple[int, ...]], *, of_y: bool = False) -> str:
    """Which rows' statistics or numbers stand in x̂ of others, as a clause; empty where it is nothing of that.

    Args:
        bench: Where it is judged.
        shapes: (B, T, D) of draws that were wrong.
        of_y: Whether x̂ is read off y; off dgamma otherwise.
    """
    suited = [s for s in shapes if _ROWS[0] <= s[0] * s[1] <= _ROWS[1] and s[2] >= _FEATURES]
    for shape in sorted(suited, key=lambda s: (abs(s[0] * s[1] - _USUAL), s[2]))[:1]:
        batch = draw(bench.rng("other rows"), shape, eps_of(bench, 1e-5))  # type: ignore[arg-type]
        try:
            made = _of_y(bench, batch) if of_y else _of_dgamma(bench, batch)
        except Fault:
            return ""
        with np.errstate(all="ignore"):
            return _told(made, batch)
    return ""


def _of_y(bench: Bench, batch: Batch) -> Array:
    """Each row's x̂ as y has it (rows, D)."""
    return np.asarray((forward(bench, batch).y - batch.beta) / batch.gamma).reshape(-1, batch.width)


def _of_dgamma(bench: Bench, batch: Batch) -> Array:
    """The same as dgamma has it, by an upstream gradient of one row at a time."""
    rows = np.zeros((batch.shape[0] * batch.shape[1], batch.width))
    for row in range(len(rows)):
        dy = np.zeros_like(rows)
        dy[row] = 1.0
        run = forward(bench, replace(batch, dy=dy.reshape(batch.shape)))
        rows[row] = backward(bench, run).dgamma
    return rows


def _told(made: Array, batch: Batch) -> str:
    x, stats = batch.x.reshape(-1, batch.width), reference.statistics(batch)
    mean, rstd = x.mean(axis=-1)[None, :, None], stats.rstd.reshape(1, -1, 1)
    own_mean, own_rstd = mean.reshape(-1, 1, 1), rstd.reshape(-1, 1, 1)
    given: Mapping[str, Array] = {
        "x̂": ((x - mean[0]) * rstd[0])[None],
        "mean and rstd": (x[:, None] - mean) * rstd,
        "rstd": (x[:, None] - own_mean) * rstd,
        "the mean": (x[:, None] - mean) * own_rstd,
    }
    for words, wanted in given.items():
        size = np.maximum(np.abs(wanted).max(axis=-1), 1e-300)
        near = np.abs(made[:, None] - wanted).max(axis=-1) <= _SAME * size
        if near.any(axis=1).all() and not near.diagonal().all():
            return f"{words} {'are' if ' and ' in words else 'is'} that of {which_rows(near)}"
    return ""


def which_rows(near: npt.NDArray[np.bool_]) -> str:
    """The rule by which other rows are taken, or the first one.

    Args:
        near: (R, R) whether a row has what belongs to another.
    """
    rows = np.arange(len(near))
    for unit in range(1, len(rows)):
        if near[rows, rows % unit].all():
            return f"the row of the same place among the first {unit}" if unit > 1 else "the first row"
        if unit > 1 and near[rows, rows // unit * unit].all():
            return f"the first of every {unit} rows"
        if unit > 1 and near[rows, rows // unit].all():
            return f"row i // {unit} in row i"
    for shift in (1, -1):
        if near[rows, (rows - shift) % len(rows)].all():
            return f"the row {'before' if shift > 0 else 'behind'}"
    first = int(np.argmin(near.diagonal()))
    return f"another row: of row {int(np.argmax(near[first]))} in row {first} of {len(rows)}"
