"""Arrays in other orders of memory than the usual one: an array is its values, whatever its strides.

What is C-contiguous here is so in the worker; what is :class:`Laid` has the same strides there, up to the
padding between rows, so that code that leans on an order that nobody promised is seen to.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["HOWS", "InMemory", "Laid", "in_memory", "laid", "mixed", "only_laid"]

#: Column by column; as a transposed view, such as heads split from a last axis; backwards; with gaps.
HOWS = ("Fortran", "transposed", "reversed", "stepped")
Array = npt.NDArray[Any]


class Laid(np.ndarray[Any, np.dtype[Any]]):
    """An array whose order in memory is kept on the way to the worker."""


@dataclass(frozen=True, slots=True)
class InMemory:
    """How an array lies in memory.

    Attributes:
        data: Its numbers as they follow each other there, C-contiguous.
        axes: Which axis of the array each axis of ``data`` is.
        flipped: Axes of ``data`` that are read backwards.
        stepped: Whether other numbers stand between them.
    """

    data: Array
    axes: tuple[int, ...]
    flipped: tuple[int, ...]
    stepped: bool


def laid(array: Array, how: str) -> Laid:
    """The same values in another order of memory.

    Args:
        array: Any shape.
        how: One of :data:`HOWS`.
    """
    if how == "stepped":
        wide = np.zeros((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
        wide[..., ::2] = array
        return wide[..., ::2].view(Laid)
    if how == "reversed":
        turned = tuple(slice(None, None, -1) for _ in array.shape)
        return np.ascontiguousarray(array[turned])[turned].view(Laid)
    if how == "transposed" and array.ndim > 2:
        return np.ascontiguousarray(array.swapaxes(-3, -2)).swapaxes(-3, -2).view(Laid)
    return np.asfortranarray(array).view(Laid)


def mixed(number: int, *arrays: Array) -> Iterator[Laid]:
    """Arrays of one call, each in an order of its own; ``number`` turns them."""
    for place, array in enumerate(arrays):
        yield laid(array, HOWS[(number + place) % len(HOWS)])


def in_memory(array: Laid) -> InMemory:
    """Take an array apart into what lies in memory and how it is read."""
    strides = [stride if size > 1 else 0 for stride, size in zip(array.strides, array.shape, strict=True)]
    axes = sorted(range(array.ndim), key=lambda axis: -abs(strides[axis]))
    flipped = tuple(place for place, axis in enumerate(axes) if strides[axis] < 0)
    data = np.asarray(array).transpose(axes)
    turned = tuple(slice(None, None, -1) if place in flipped else slice(None) for place in range(array.ndim))
    least = min((abs(stride) for stride in strides if stride), default=array.itemsize)
    return InMemory(np.ascontiguousarray(data[turned]), tuple(axes), flipped, least > array.itemsize)


def only_laid(wrong: Mapping[str, Sequence[str]]) -> str:
    """That answers are wrong for an order of memory alone, as a clause.

    Args:
        wrong: Arrays → in which of :data:`HOWS` they were answered wrongly.
    """
    ways = "; ".join(f"{name} is {', '.join(hows)}" for name, hows in wrong.items())
    return f"only where {' or '.join(wrong)} lies otherwise in memory than row by row ({ways})"
