"""Which head of keys and values a query head reads: the right map, and the usual wrong ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.tasks.kv.words.reference import attention

__all__ = ["MAPS", "cause", "mapped", "repeated"]

Array = npt.NDArray[Any]


def _shared(queries: int, shared: int) -> Array:
    return np.arange(queries) // (queries // shared)


Map = Callable[[int, int], Array]

#: In words → for (query heads, shared heads) the head that each query head reads; the first is right.
MAPS: dict[str, Map] = {
    "head h reads head h // (H / G)": _shared,
    "head h reads head h % G": lambda h, g: np.arange(h) % g,
    "head h reads head h // G, G heads of keys and values": lambda h, g: np.minimum(np.arange(h) // g, g - 1),
    "every head reads head 0": lambda h, g: np.zeros(h, int),
    "every head reads the last head": lambda h, g: np.full(h, g - 1),
    "the heads are read from the last to the first": lambda h, g: (g - 1) - _shared(h, g),
    "every group reads the head after its own": lambda h, g: (_shared(h, g) + 1) % g,
    "head h reads head h, and all past the last that": lambda h, g: np.minimum(np.arange(h), g - 1),
}


def mapped(x: Array, words: str, queries: int) -> Array:
    """Keys or values (B, G, S, D) with one head per query head, as a map has it."""
    return np.asarray(x[:, MAPS[words](queries, x.shape[1])])


def cause(out: Array, q: Array, k: Array, v: Array, visible: Array | None) -> str:
    """What wrong grouped attention looks like; empty when it equals nothing usual.

    Args:
        out: The answer, (B, H, T, D).
        q: (B, H, T, D).
        k: (B, G, S, D).
        v: As k.
        visible: (T, S) bool; all keys are seen when left out.
    """
    queries, shared, width = q.shape[1], k.shape[1], q.shape[-1]
    right = [mapped(x, next(iter(MAPS)), queries) for x in (k, v)]
    with np.errstate(all="ignore"):
        for words in list(MAPS)[1:]:
            heads = mapped(k, words, queries), mapped(v, words, queries)
            if _equal(out, attention(q, *heads, visible=visible)):
                return words
            if _equal(out, attention(q, right[0], heads[1], visible=visible)):
                return f"{words} of the values"
            if _equal(out, attention(q, heads[0], right[1], visible=visible)):
                return f"{words} of the keys"
        for words, scale in (("are not scaled by 1/√D", 1.0), ("are scaled by 1/D", 1.0 / width),
                             ("are scaled by 1/√(H·D)", (queries * width) ** -0.5),
                             ("are scaled by 1/√(G·D)", (shared * width) ** -0.5),
                             ("are multiplied by √D", width**0.5)):  # fmt: skip
            if _equal(out, attention(q, k, v, visible=visible, scale=scale)):
                return f"the scores {words}"
        truth = attention(q, k, v, visible=visible)
        order = np.arange(queries).reshape(shared, -1).T.ravel()
        for index in (order, np.argsort(order)):
            if _equal(out, truth[:, index]):
                return "the heads of the answer stand in another order"
    return ""


def _equal(out: Array, wrong: Array) -> bool:
    return out.shape == wrong.shape and bool(np.allclose(out, wrong, rtol=1e-4, atol=1e-5))


def repeated(value: Array, shape: tuple[int, ...], heads: Array, shared: int, inner: bool) -> Array | None:
    """A weight of the narrow decoder in the shape of the wide one's.

    Args:
        value: The narrow one's.
        shape: The wide one's.
        heads: For each query head the shared head whose copy it gets.
        shared: How many there are.
        inner: Whether heads are the inner factor of the axis (width by heads) and not the outer one.
    """
    if value.shape == shape or len(value.shape) != len(shape):
        return value if value.shape == shape else None
    axes = [i for i, (a, b) in enumerate(zip(value.shape, shape, strict=True)) if a != b]
    if len(axes) != 1:
        return None
    axis, queries = axes[0], len(heads)
    narrow, wide = value.shape[axis], shape[axis]
    moved = np.moveaxis(value, axis, 0)
    if narrow * queries == wide * shared and narrow % shared == 0:
        new = _by_head(moved, heads, shared, inner)
    else:
        # Queries, keys and values side by side: (H + 2G) · D against 3H · D.
        width = wide // (3 * queries)
        if narrow != (queries + 2 * shared) * width or wide != 3 * queries * width:
            return None
        q, k, v = np.split(moved, [queries * width, (queries + shared) * width])
        new = np.concatenate([q, _by_head(k, heads, shared, inner), _by_head(v, heads, shared, inner)])
    return np.moveaxis(new, 0, axis)


def _by_head(moved: Array, heads: Array, shared: int, inner: bool) -> Array:
    rest = moved.shape[1:]
    if inner:
        return np.asarray(moved.reshape(-1, shared, *rest)[:, heads].reshape(-1, *rest))
    return np.asarray(moved.reshape(shared, -1, *rest)[heads].reshape(-1, *rest))
