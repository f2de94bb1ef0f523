"""Whether one of the outputs has its rows further apart than K entries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.fuse.asking import LIMIT, Asked
from judge_tui.checks.tasks.fuse.reference import truth

__all__ = ["rows_apart"]

#: How far apart rows may be, and more than how many must fit into the output.
_APART = (*range(2, 65), 100, 128, 200, 256, 512, 1024)
_LEAST = 2


def rows_apart(asked: Asked) -> str:
    """Which output of a wrong launch has its rows elsewhere, as a clause; empty where none has.

    Args:
        asked: An answer, laid out as K entries to a row.
    """
    read, logits, K = asked.read, asked.question.logits, asked.question.K
    if read is None or asked.answer.status != "done" or read.indices.shape[1] != K:
        return ""
    known = truth(logits, K)
    indices, chances = read.indices.reshape(-1), read.probabilities.reshape(-1)
    wanted = np.exp(known.values.astype(np.float64) - known.lse[:, None])
    inside = (indices >= 0) & (indices < logits.shape[1])

    def chosen(row: int, at: npt.NDArray[np.int64]) -> bool:
        return bool(inside[at].all() and (logits[row][indices[at]] == known.values[row]).all())

    def weighed(row: int, at: npt.NDArray[np.int64]) -> bool:
        return bool(np.allclose(chances[at], wanted[row], rtol=10 * LIMIT, atol=1e-30))

    for name, holds in (("indices", chosen), ("probabilities", weighed)):
        for apart in _APART:
            rows = list(_fitting(len(logits), K, apart, len(indices)))
            if apart > K and len(rows) > _LEAST and all(holds(row, at) for row, at in rows):
                return f"the {name} of row r begin at r · {apart}, not at r · K (K is {K})"
    return ""


def _fitting(rows: int, K: int, apart: int, size: int) -> Iterator[tuple[int, npt.NDArray[np.int64]]]:
    """Rows of which all entries lie in the output, with their places."""
    for row in range(rows):
        at = row * apart + np.arange(K)
        if at[-1] < size:
            yield row, at
