"""The entries of an answer: what stands in the outputs, and what was never written."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.cuda.emulator import UNWRITTEN_INDEX, UNWRITTEN_PROBABILITY, Answer

__all__ = ["Entries", "entries"]


@dataclass(frozen=True, slots=True)
class Entries:
    """The first K entries of each row.

    Attributes:
        indices: (rows, K), int64.
        probabilities: (rows, K), float32.
        unwritten: (rows, K): whether either of them was not written.
        beyond: How many entries past the rows' own were written, in a buffer that is larger.
    """

    indices: npt.NDArray[np.int64]
    probabilities: npt.NDArray[np.float32]
    unwritten: npt.NDArray[np.bool_]
    beyond: int


def entries(answer: Answer, rows: int, K: int, stride: int) -> Entries:
    """Read the outputs as rows of a stride.

    Args:
        answer: With both outputs; they may be larger than the rows need.
        rows: Number of rows.
        K: Entries of each.
        stride: From one row to the next, at least K.
    """
    assert answer.indices is not None
    assert answer.probabilities is not None
    flat: npt.NDArray[Any] = answer.indices.reshape(-1)
    chances = answer.probabilities.reshape(-1)
    never = (flat == UNWRITTEN_INDEX[str(flat.dtype)]) | (chances.view(np.uint32) == UNWRITTEN_PROBABILITY)
    size = rows * stride

    def cut(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return values[:size].reshape(rows, stride)[:, :K]

    beyond = int((~never[size:]).sum())
    return Entries(cut(flat).astype(np.int64), cut(chances), cut(never), beyond)
