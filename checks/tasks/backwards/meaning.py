"""What an entry of a cache is, by its numbers: x̂, rstd, x − mean and the like."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.backwards.entries import Entry
from judge_tui.checks.tasks.backwards.reference import Batch, forward, statistics

__all__ = ["SIZES", "derivable", "meanings", "minimal_bytes"]

Array = npt.NDArray[Any]

_CLOSE = 1e-6
#: What follows from the shape of any entry.
SIZES = ("B", "T", "D", "B·T", "1/D")
#: Which full-size entry is kept when there are several, best first; likewise per row.
_FULL = ("x̂", "x − mean", "x", "")
_ROW = ("rstd", "std", "var + eps", "var", "mean", "")


def meanings(entries: Sequence[Entry], batch: Batch) -> list[str]:
    """What each entry is; empty where its numbers match nothing."""
    known = _known(batch)
    return [_meaning(entry, known) for entry in entries]


def _known(batch: Batch) -> dict[str, Array]:
    row = statistics(batch)
    B, T, D = batch.shape
    arrays = {
        "x": batch.x,
        "x − mean": row.centred,
        "x̂": row.xhat,
        "mean": row.mean,
        "rstd": row.rstd,
        "std": 1.0 / row.rstd,
        "var": row.var,
        "var + eps": row.var + batch.eps,
        "√var": np.sqrt(row.var),
        "gamma": batch.gamma,
        "beta": batch.beta,
        "gamma·x̂": batch.gamma * row.xhat,
        "gamma·rstd": batch.gamma * row.rstd,
        "y": forward(batch),
    }
    scalars = {"eps": batch.eps, "B": B, "T": T, "D": D, "B·T": B * T, "1/D": 1 / D}
    return {**arrays, **{name: np.asarray(float(value)) for name, value in scalars.items()}}


def _meaning(entry: Entry, known: dict[str, Array]) -> str:
    if entry.value is None:
        return ""
    for name, right in known.items():
        if entry.value.size == right.size and entry.sized == (right.size > 1):
            size = float(np.max(np.abs(right)))
            if np.max(np.abs(entry.value.ravel() - right.ravel())) <= _CLOSE * size:
                return name
    return ""


def minimal_bytes(batch: Batch, with_x: bool) -> int:
    """Bytes that a backward needs: x̂, rstd and gamma, or x, mean, rstd and gamma."""
    B, T, D = batch.shape
    return int(batch.x.itemsize * (B * T * D + (2 if with_x else 1) * B * T + D))


def derivable(entries: Sequence[Entry], names: Sequence[str], batch: Batch) -> list[int]:
    """Used entries that follow from the other used ones.

    One full-size entry and one number per row suffice, two numbers per row beside x itself;
    which of equals is kept does not matter. Sizes follow from any shape.

    Returns:
        Indices into ``entries``.
    """
    B, T, D = batch.shape
    used = [i for i, entry in enumerate(entries) if entry.used and _first(entries, i)]
    full = sorted(
        (i for i in used if _count(entries[i]) == B * T * D and D > 1), key=lambda i: _rank(names[i], _FULL)
    )
    rows = sorted((i for i in used if _count(entries[i]) == B * T), key=lambda i: _rank(names[i], _ROW))
    kept_x = bool(full) and names[full[0]] == "x"
    held = sum(entries[i].nbytes for i in used)
    spare = (
        [*full[1:], *rows[2 if kept_x or not full else 1 :]] if held > minimal_bytes(batch, kept_x) else []
    )
    return sorted({*spare, *(i for i in used if names[i] in SIZES)})


def _first(entries: Sequence[Entry], index: int) -> bool:
    """Whether no earlier used entry has the same memory."""
    twin = entries[index].twin
    return twin is None or not entries[twin].used


def _count(entry: Entry) -> int:
    return int(np.prod(entry.shape)) if entry.sized else 1


def _rank(name: str, order: Sequence[str]) -> int:
    return order.index(name) if name in order else len(order)
