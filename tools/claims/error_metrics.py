"""Relative errors by the metrics that the analyses use, which are orders apart for one result."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["by_2_norm", "by_element", "by_maximum_norm"]

Array = npt.NDArray[Any]


def by_maximum_norm(out: Array, ref: Array) -> float:
    """Largest difference over the largest entry of the reference; both of one shape."""
    return float(np.max(np.abs(out - ref)) / np.max(np.abs(ref)))


def by_2_norm(out: Array, ref: Array) -> float:
    """2-norm of the difference over that of the reference; both of one shape."""
    return float(np.linalg.norm(out - ref) / np.linalg.norm(ref))


def by_element(out: Array, ref: Array, floor: float) -> float:
    """Largest difference over the entry that it stands at.

    Args:
        out: What was computed.
        ref: What is due, of the same shape.
        floor: Added to every entry's size, so that zeros divide nothing.
    """
    return float(np.max(np.abs(out - ref) / (np.abs(ref) + floor)))
