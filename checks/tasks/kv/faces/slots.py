"""Where a decoder keeps keys and values: arrays that a prompt changed, seen as (heads, tokens, width)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.leaves import leaves
from judge_tui.checks.tasks.kv.faces.projections import Shape

__all__ = ["Kept", "Slot", "arrays", "arrays_of", "changed", "slots"]

Array = npt.NDArray[Any]
Kept = dict[tuple[Any, ...], tuple[Handle, Array, str]]
_LARGEST = 1 << 20


@dataclass(slots=True)
class Slot:
    """Keys, or values, of one layer.

    Attributes:
        handle: The array that holds them.
        whole: A copy of it.
        seen: The part of the copy that they are, (G, N, D): a view, so that writing to it changes the copy.
        dtype: Of the array.
    """

    handle: Handle
    whole: Array
    seen: Array
    dtype: str


def arrays(decoder: Decoder) -> Kept:
    """The floating-point arrays of a decoder and of the cache beside it, by path, with copies."""
    return arrays_of(decoder.worker, decoder.roots)


def arrays_of(worker: Worker, roots: Sequence[Handle]) -> Kept:
    """The floating-point arrays of objects, by path, with copies."""
    return {
        (index, leaf.path): (leaf.handle, leaf.fetched(worker), leaf.dtype)
        for index, root in enumerate(roots)
        for leaf in leaves(worker, root)
        if leaf.floats and np.prod(leaf.shape) <= _LARGEST
    }


def changed(before: Kept, after: Kept) -> Kept:
    """The arrays of the second look that are new, or hold other numbers than in the first."""
    return {
        path: held
        for path, held in after.items()
        if path not in before or not np.array_equal(before[path][1], held[1], equal_nan=True)
    }


def slots(before: Kept, after: Kept, shape: Shape, tokens: int) -> list[Slot]:
    """What changed between two looks and can hold keys or values of so many tokens.

    Args:
        before: The arrays before the prompt.
        after: The arrays after it.
        shape: The decoder's heads.
        tokens: Length of the prompt; a sequence's batch is one.
    """
    found = []
    for handle, values, dtype in changed(before, after).values():
        whole = values.copy()
        found += [Slot(handle, whole, seen, dtype) for seen in _views(whole, shape, tokens)]
    return found


def _views(whole: Array, shape: Shape, tokens: int) -> list[Array]:
    """The (G, N, D) views that an array can be; of one that holds keys and values, both."""
    small = whole.reshape([n for n in whole.shape if n != 1])
    if 2 in small.shape and small.ndim >= 3 and shape.shared != 2:
        axis = small.shape.index(2)
        halves = [np.moveaxis(small, axis, 0)[i] for i in (0, 1)]
        seen = [_view(half, shape, tokens) for half in halves]
    else:
        seen = [_view(small, shape, tokens)]
    return [view for view in seen if view is not None and np.shares_memory(view, whole)]


def _view(small: Array, shape: Shape, tokens: int) -> Array | None:
    joined = shape.shared * shape.width
    if small.ndim == 2 and shape.shared > 1 and joined in small.shape:
        axis = small.shape.index(joined)
        rows = np.moveaxis(small, axis, 1)
        if not rows.flags.c_contiguous:
            return None
        small = rows.reshape(len(rows), shape.shared, shape.width)
    if small.ndim == 2 and shape.shared == 1:
        small = small[None]
    if small.ndim != 3 or shape.width not in small.shape:
        return None
    rest = list(range(3))
    # Of axes of one length the last is the width, as it mostly is.
    width = rest.pop(max(axis for axis in rest if small.shape[axis] == shape.width))
    heads = next((axis for axis in rest if small.shape[axis] == shape.shared), None)
    if heads is None:
        return None
    rest.remove(heads)
    seen = small.transpose(heads, rest[0], width)
    return seen if seen.shape[1] >= tokens else None
