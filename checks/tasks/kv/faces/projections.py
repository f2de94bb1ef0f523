"""A decoder's projections to queries, keys and values, told by name or shape, and set by head."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.tasks.kv.faces.leaves import Leaf, Path
from judge_tui.checks.tasks.kv.faces.weights import weights
from judge_tui.checks.tasks.kv.words.head_maps import repeated

__all__ = ["Shape", "equalized"]

Array = npt.NDArray[Any]
_SPELLED = (("query", "key", "value"), ("Query", "Key", "Value"), ("q", "k", "v"), ("Q", "K", "V"))


@dataclass(frozen=True, slots=True)
class Shape:
    """Heads of a decoder.

    Attributes:
        queries: Query heads.
        shared: Heads of keys and values.
        width: Of a head.
    """

    queries: int
    shared: int
    width: int


def equalized(worker: Worker, model: Handle | None, shape: Shape, heads: Array, factor: float) -> int:
    """Give keys the projection of values, and queries the same times a factor.

    Then a token's key is its value (but for what positions add), and its query in every head is ``factor``
    times the key of the shared head that ``heads`` names for it.

    Args:
        worker: Where the model is.
        model: The decoder.
        shape: Its heads.
        heads: (H,) shared head for each query head.
        factor: Of the queries.

    Returns:
        How many projections (and biases) were found and set; 0 when none can be told.
    """
    listed = weights(worker, model)
    done = 0
    for q, k, v in _triples(listed):
        value = v.fetched(worker)
        wide = repeated(value, q.shape, heads, shape.shared, False)
        if wide is None or k.shape != v.shape:
            continue
        worker.fill(k.handle, value.astype(k.dtype))
        worker.fill(q.handle, (factor * wide).astype(q.dtype))
        done += 1
    if done:
        return done
    for weight in listed:
        new = _joined(weight.fetched(worker), shape, heads, factor)
        if new is not None:
            worker.fill(weight.handle, new.astype(weight.dtype))
            done += 1
    return done


def _triples(listed: Sequence[Leaf]) -> Iterator[tuple[Leaf, Leaf, Leaf]]:
    """Weights whose paths differ in one letter, or word, for queries, keys and values."""
    by_path = {weight.path: weight for weight in listed}
    for weight in listed:
        for at, (kind, key) in reversed(list(enumerate(weight.path))):
            if not isinstance(key, str):
                continue
            found = _spelled(by_path, weight.path, at, kind, key)
            if found is not None:
                yield weight, *found
                break


def _spelled(
    by_path: dict[Path, Leaf], path: Path, at: int, kind: str, name: str
) -> tuple[Leaf, Leaf] | None:
    for query, key, value in _SPELLED:
        start = name.find(query)
        while start >= 0:
            others = [
                (*path[:at], (kind, name[:start] + word + name[start + len(query) :]), *path[at + 1 :])
                for word in (key, value)
            ]
            if all(other in by_path for other in others):
                return by_path[others[0]], by_path[others[1]]
            start = name.find(query, start + 1)
    return None


def _joined(values: Array, shape: Shape, heads: Array, factor: float) -> Array | None:
    """Queries, keys and values in one array: side by side, or one behind the other on the first axis."""
    one, other = shape.queries * shape.width, shape.shared * shape.width
    if shape.queries == shape.shared and values.ndim == 3 and values.shape[0] in (3, 4):
        if values.shape[1:] != (one, one):
            return None
        new = values.copy()
        new[1] = values[2]
        new[0] = factor * values[2]
        return new
    axes = [axis for axis, size in enumerate(values.shape) if size == one + 2 * other]
    if len(axes) != 1 or values.ndim > 2:
        return None
    moved = np.moveaxis(values, axes[0], 0)
    v = moved[one + other :]
    wide = repeated(v, (one, *v.shape[1:]), heads, shape.shared, False)
    if wide is None:
        return None
    return np.moveaxis(np.concatenate([factor * wide, v, v]), 0, axes[0])
