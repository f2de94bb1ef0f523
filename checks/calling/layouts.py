"""Axis orders in which a callable takes and gives the contract's arrays.

A layout of letters names the axes of what the contract calls (B, H, N, D): ``BNHD`` has them
in another order; one that leaves letters out is called once for every index of those axes,
and what comes is stacked: ``HND`` takes one sequence at a time, ``ND`` one head. ``E`` joins
heads and their width into one axis: ``BNE`` has tokens before it. ``merged``
makes one axis of the two leading ones of every array of three or more axes, so that (B, T, D)
is handed over as rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["MERGED", "back", "handed", "left_out", "wired"]

MERGED = "merged"
_AXES = "BHND"


def _spread(layout: str) -> str:
    """A layout whose joined axis is written as the two that it joins."""
    return layout.replace("E", "HD")


def _order(layout: str, axes: int) -> list[int] | None:
    """Axes of a 4-D array as they are handed over, those that are left out in front; ``None`` as they are."""
    spread = _spread(layout)
    if axes != len(_AXES) or not set(spread) <= set(_AXES) or len(set(spread)) < len(spread) or not layout:
        return None
    return [_AXES.index(axis) for axis in (*(a for a in _AXES if a not in spread), *spread)]


def left_out(layout: str) -> int:
    """How many leading axes a layout leaves out: the callable is called for every index of them."""
    return len(_AXES) - len(_spread(layout)) if _order(layout, len(_AXES)) else 0


def wired(shape: Sequence[int], layout: str) -> tuple[int, ...]:
    """A shape of the contract's axes as it goes over the wire."""
    if order := _order(layout, len(shape)):
        sizes = {**dict(zip(_AXES, shape, strict=True)), "E": shape[1] * shape[3]}
        front = (shape[axis] for axis in order[: left_out(layout)])
        return (*front, *(sizes[axis] for axis in layout))
    if layout != MERGED or len(shape) < 3:
        return tuple(shape)
    return (shape[0] * shape[1], *shape[2:])


def handed(array: npt.NDArray[Any], layout: str) -> npt.NDArray[Any]:
    """An array of the contract's axes as it goes over the wire."""
    shape = wired(array.shape, layout)
    if order := _order(layout, array.ndim):
        array = array.transpose(order)
    return array if array.shape == shape else array.reshape(shape)


def back(array: npt.NDArray[Any], shape: Sequence[int], layout: str) -> npt.NDArray[Any]:
    """An array from the wire in the contract's axes, C-contiguous.

    Args:
        array: Of the shape ``wired(shape, layout)``.
        shape: In the contract's axes.
        layout: How it went over the wire.
    """
    if order := _order(layout, len(shape)):
        apart = array.reshape([shape[axis] for axis in order])
        return np.ascontiguousarray(apart.transpose(np.argsort(order)))
    return np.ascontiguousarray(array.reshape(shape))
