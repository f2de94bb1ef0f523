"""How far from the truth is still right: relative, per row, calibrated by what sound code reaches.

A limit is a multiple of the error that a plain implementation in the same dtype makes
on the same input, with a floor in units of the dtype's rounding; it never grows with
the size of the array. NaN equals NaN only where the reference says NaN is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["SLACK", "calibrated", "difference", "is_single", "relative_error", "same_bits"]

#: How many times the error of a sound implementation is still taken as sound.
SLACK = 50.0
#: Floor of every limit, in units of the dtype's rounding.
_FLOOR_EPS = 50.0

Array = npt.NDArray[Any]


def relative_error(
    out: Array, reference: Array, *, axis: int | tuple[int, ...] = -1, least: Array | float = 0.0
) -> float:
    """Largest over rows of ``‖out − ref‖ / ‖ref‖``; a row is what lies along ``axis``.

    Rows of the reference that are all zero are held against the largest row, so that an
    answer of zeros is right only where the truth is zero.

    Args:
        out: The answer, any shape.
        reference: The truth, float64, same shape.
        axis: Axes that form one row.
        least: What a row is measured by where the reference is shorter: a share of terms that cancel.

    Returns:
        NaN when the answer has a NaN or infinity where the reference has none, or lacks one that it has.
    """
    if out.shape != reference.shape or out.size == 0:
        return float("nan") if out.shape != reference.shape else 0.0
    if out.ndim == 0:
        out, reference = out.reshape(1), reference.reshape(1)
    odd = ~np.isfinite(reference)
    if not np.array_equal(odd, ~np.isfinite(out)) or not np.array_equal(
        out[odd], reference[odd], equal_nan=True
    ):
        return float("nan")
    out = np.where(odd, 0.0, out).astype(np.float64)
    reference = np.where(odd, 0.0, reference).astype(np.float64)
    with np.errstate(over="ignore"):
        scale, error = np.maximum(_norm(reference, axis), least), _norm(out - reference, axis)
        largest = float(np.max(scale, initial=0.0))
        if largest == 0.0:
            return float(np.max(error, initial=0.0))
        return float(np.max(error / np.where(scale > 0, scale, largest)))


def _norm(values: Array, axis: int | tuple[int, ...]) -> Array:
    """Euclidean norm along axes, for values whose squares would overflow or vanish as well."""
    peak = np.max(np.abs(values), axis=axis, keepdims=True, initial=0.0)
    scaled = values / np.where((peak > 0) & np.isfinite(peak), peak, 1.0)
    return np.asarray(np.sqrt(np.sum(scaled * scaled, axis=axis, keepdims=True)) * peak)


def difference(out: Array, reference: Array) -> float:
    """Largest absolute difference; NaN when either side has one."""
    return float(np.max(np.abs(out - reference), initial=0.0))


def calibrated(plain_error: float, dtype: npt.DTypeLike, *, floor: float = 0.0) -> float:
    """The limit for a relative error.

    Args:
        plain_error: Error of a plain implementation in ``dtype`` on the same input.
        dtype: The submission's arithmetic.
        floor: A floor of the contract's own (``1e-5`` where the challenge states it).

    Raises:
        ValueError: The plain implementation's error is no number: it cannot calibrate.
    """
    if not np.isfinite(plain_error):
        raise ValueError(f"a plain implementation whose error is {plain_error} cannot calibrate a limit")
    return max(SLACK * plain_error, _FLOOR_EPS * float(np.finfo(np.dtype(dtype)).eps), floor)


def same_bits(one: Array, other: Array) -> bool:
    """Whether two arrays are the same byte for byte."""
    return one.shape == other.shape and one.dtype == other.dtype and one.tobytes() == other.tobytes()


def is_single(array: Array) -> bool:
    """Whether every number is a float32 one, as no sum of float64 numbers is by chance."""
    return bool(np.array_equal(array, array.astype(np.float32).astype(np.float64), equal_nan=True))
