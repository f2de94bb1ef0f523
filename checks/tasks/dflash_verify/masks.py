"""Reading a tree mask: booleans, 0 and 1, additive values, or booleans the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import BadResult

__all__ = ["Mask", "Written", "seen"]

#: Share of cells that must be right the other way round before true is taken to mean hidden.
_INVERTED = 0.8

Matrix = npt.NDArray[np.bool_]


class Written(Enum):
    """How a mask is written."""

    BOOL = auto()
    #: Booleans, true = hidden.
    INVERTED = auto()
    #: 0 and 1.
    NUMBERS = auto()
    #: 0 and 1, 1 = hidden.
    INVERTED_NUMBERS = auto()
    ADDITIVE = auto()


@dataclass(frozen=True, slots=True)
class Mask:
    """What a mask says.

    Attributes:
        shape: Its shape, axes of length one in front left out.
        visible: True where a position is seen; of another shape than asked for when that is what came.
        written: How.
        values: Its smallest and largest value, for people.
    """

    visible: Matrix
    written: Written
    values: str

    @property
    def shape(self) -> tuple[int, ...]:
        """Its shape."""
        return self.visible.shape

    def share(self, truth: Matrix) -> float:
        """Share of right cells, 0 to 1; three quarters of it where it is not written as booleans."""
        if self.shape != truth.shape:
            return 0.0
        share = float(np.mean(self.visible == truth)) if truth.size else 1.0
        return share if self.written is Written.BOOL else 0.75 * share


def seen(value: Any, truth: Matrix, written: Written | None = None) -> Mask:
    """Read a mask, in the way that fits best unless that is settled.

    Args:
        value: Plain data: nested lists of booleans or numbers, or something that holds one.
        truth: The right mask, which only settles whether true means seen or hidden.
        written: How the submission writes its masks; ``None`` to find out.

    Raises:
        BadResult: There is no matrix in it.
    """
    matrix = _matrix(value)
    flags = matrix.dtype == np.bool_
    values = f"{matrix.min():g} … {matrix.max():g}" if matrix.size and not flags else ""
    additive = matrix.dtype.kind == "f" and bool(np.any((matrix != 0) & (matrix != 1)))
    if additive or (written is Written.ADDITIVE and not flags):
        return Mask(np.asarray(matrix > -1), Written.ADDITIVE, values)
    plain = np.asarray(matrix != 0)
    inverted = plain.shape == truth.shape and truth.size > 0 and bool(np.mean(~plain == truth) > _INVERTED)
    if written in (Written.INVERTED, Written.INVERTED_NUMBERS) or (inverted and written is None):
        return Mask(~plain, Written.INVERTED if flags else Written.INVERTED_NUMBERS, values)
    return Mask(plain, Written.BOOL if flags else Written.NUMBERS, values)


def _matrix(value: Any) -> npt.NDArray[Any]:
    if isinstance(value, Mapping):
        value = next((part for part in value.values() if isinstance(part, list)), value)
    if isinstance(value, list) and len(value) > 1 and all(isinstance(part, list) for part in value):
        first = _array(value[0])
        if first is not None and first.ndim == 2 and len(value) == 2 and len(first) != 1:
            value = value[0]
    array = _array(value)
    while array is not None and array.ndim > 2 and array.shape[0] == 1:
        array = array[0]
    if array is None or array.ndim != 2:
        told = "nothing" if value is None else f"a {type(value).__name__}"
        shape = f" of shape {array.shape}" if array is not None and array.ndim else ""
        raise BadResult(f"answered with {told}{shape} instead of a matrix")
    return array


def _array(value: Any) -> npt.NDArray[Any] | None:
    if not isinstance(value, list):
        return None
    try:
        array = np.array(value)
    except ValueError:
        return None
    return array if array.dtype.kind in "biuf" else None
