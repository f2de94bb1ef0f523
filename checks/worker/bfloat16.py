"""bfloat16, which NumPy has not and CuPy has by the package ml_dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .values import BadValueError

__all__ = ["dtype_named", "is_numeric", "widened"]

_NAME = "bfloat16"


def dtype_named(name: str) -> np.dtype[Any]:
    """The dtype that the wire names.

    Raises:
        BadValueError: It is bfloat16, and there is no ml_dtypes.
    """
    if name != _NAME:
        return np.dtype(name)
    try:
        import ml_dtypes
    except ImportError as error:
        raise BadValueError("bfloat16, for which the package ml_dtypes is missing") from error
    found: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
    return found


def is_numeric(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype is one of numbers."""
    return dtype.kind in "biufc" or dtype.name == _NAME


def widened(array: Any) -> Any:
    """A bfloat16 array as float32, which NumPy knows; others as they are."""
    return array.astype(np.float32) if array.dtype.name == _NAME else array
