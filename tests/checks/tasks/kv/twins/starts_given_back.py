# style: plain functions over a dataclass; an append gives where each row begins, and attention is told that
# skips: gqa, memory_model, paged, quantized
"""A dense, pre-allocated KV cache and the attention that reads it.

Layout
------
    keys, values : (batch, heads, capacity, head_dim)
    lengths      : (batch,)   number of tokens each row really holds

Everything is plain functions over one small dataclass.  Each append returns the
position at which every row started to write; this is the only thing the
attention needs in order to know *where* its queries are:

    cache = create_cache(batch=2, heads=4, capacity=128, head_dim=16)
    start = append_many(cache, k, v, counts=[5, 3])      # prompt
    out   = attend(cache, q, start)                      # (2, 4, T, 16)
    start = append_step(cache, k1, v1)                   # one new token per row
    out   = attend(cache, q1, start)                     # (2, 4, 1, 16)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class CacheFullError(IndexError):
    """Raised when an append does not fit. The cache is left as it was."""


@dataclass
class DenseCache:
    keys: np.ndarray
    values: np.ndarray
    lengths: np.ndarray

    @property
    def batch(self) -> int:
        return self.keys.shape[0]

    @property
    def heads(self) -> int:
        return self.keys.shape[1]

    @property
    def capacity(self) -> int:
        return self.keys.shape[2]

    @property
    def head_dim(self) -> int:
        return self.keys.shape[3]


def create_cache(batch: int, heads: int, capacity: int, head_dim: int,
                 dtype=np.float32) -> DenseCache:
    """Allocate an empty cache."""
    if min(batch, heads, capacity, head_dim) < 1:
        raise ValueError("batch, heads, capacity and head_dim must all be positive")
    shape = (batch, heads, capacity, head_dim)
    return DenseCache(np.zeros(shape, dtype), np.zeros(shape, dtype),
                      np.zeros(batch, dtype=np.int64))


def append_many(cache: DenseCache, k: np.ndarray, v: np.ndarray, counts=None) -> np.ndarray:
    """Append up to T tokens to every row.

    Parameters
    ----------
    k, v   : (batch, heads, T, head_dim). Right padded when the rows differ.
    counts : (batch,) how many of the T tokens of each row are real; None means all.
             A count of 0 leaves the row untouched. Padding is never written.

    Returns
    -------
    (batch,) int64 - the position of the first token written, per row.
    """
    k, v = np.asarray(k), np.asarray(v)
    if k.shape != v.shape:
        raise ValueError(f"k {k.shape} and v {v.shape} differ in shape")
    if k.ndim != 4 or (k.shape[0], k.shape[1], k.shape[3]) != (
            cache.batch, cache.heads, cache.head_dim):
        raise ValueError(
            f"expected ({cache.batch}, {cache.heads}, T, {cache.head_dim}), got {k.shape}")
    steps = k.shape[2]
    if counts is None:
        counts = np.full(cache.batch, steps, dtype=np.int64)
    else:
        counts = np.asarray(counts, dtype=np.int64)
        if counts.shape != (cache.batch,):
            raise ValueError(f"counts must have shape ({cache.batch},)")
        if (counts < 0).any() or (counts > steps).any():
            raise ValueError(f"counts must lie in [0, {steps}], got {counts.tolist()}")

    start = cache.lengths.copy()
    end = start + counts
    if (end > cache.capacity).any():
        row = int(np.argmax(end > cache.capacity))
        raise CacheFullError(
            f"row {row} holds {start[row]} of {cache.capacity} tokens; "
            f"{counts[row]} more do not fit")

    # (row, t) pairs of the real tokens, and the slot each of them goes to.
    rows, t = np.nonzero(np.arange(steps)[None, :] < counts[:, None])
    slots = start[rows] + t
    # Advanced indices around a slice put the pair axis first: (pairs, heads, head_dim).
    cache.keys[rows, :, slots] = k[rows, :, t]
    cache.values[rows, :, slots] = v[rows, :, t]
    cache.lengths = end
    return start


def append_step(cache: DenseCache, k: np.ndarray, v: np.ndarray, active=None) -> np.ndarray:
    """Append one token, k and v of shape (batch, heads, head_dim).

    ``active`` (batch,) bool: rows that are False keep their contents and length.
    """
    counts = None if active is None else np.asarray(active, dtype=bool).astype(np.int64)
    return append_many(cache, np.asarray(k)[:, :, None], np.asarray(v)[:, :, None], counts)


def read(cache: DenseCache, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of the keys and values of one row: (heads, length, head_dim) each."""
    n = int(cache.lengths[row])
    return cache.keys[row, :, :n].copy(), cache.values[row, :, :n].copy()


def clear_rows(cache: DenseCache, rows) -> None:
    """Empty some rows so that new requests can take their place."""
    rows = np.atleast_1d(np.asarray(rows, dtype=np.int64))
    cache.lengths[rows] = 0


def attend(cache: DenseCache, q: np.ndarray, start: np.ndarray, scale: float | None = None
           ) -> np.ndarray:
    """Causal attention of T queries per row over what the row holds.

    q     : (batch, heads, T, head_dim); query t of row b sits at position start[b] + t
    start : (batch,) as returned by the append that stored these tokens

    A query sees slots 0 .. start[b] + t. Queries whose own token was never stored
    (padding, inactive rows) give 0.

    Returns (batch, heads, T, head_dim).
    """
    q = np.asarray(q)
    if q.ndim != 4 or (q.shape[0], q.shape[1], q.shape[3]) != (
            cache.batch, cache.heads, cache.head_dim):
        raise ValueError(
            f"expected ({cache.batch}, {cache.heads}, T, {cache.head_dim}), got {q.shape}")
    if scale is None:
        scale = 1.0 / np.sqrt(cache.head_dim)

    used = int(cache.lengths.max())
    if used == 0:
        return np.zeros_like(q)
    q_pos = np.asarray(start, dtype=np.int64)[:, None] + np.arange(q.shape[2])   # (B, T)
    stored = q_pos < cache.lengths[:, None]                                      # (B, T)
    k_pos = np.arange(used)
    # Inside the row's own length because q_pos < length wherever `stored` holds.
    visible = (k_pos <= q_pos[..., None]) & stored[..., None]                    # (B, T, S)
    visible = visible[:, None]

    # Slots past a row's length may hold what an earlier request left there; blank them,
    # so that not even 0 * nan can reach the output.
    held = (k_pos < cache.lengths[:, None])[:, None, :, None]                    # (B, 1, S, 1)
    keys = np.where(held, cache.keys[:, :, :used], 0)
    values = np.where(held, cache.values[:, :, :used], 0)

    scores = np.matmul(q, keys.swapaxes(-1, -2)) * scale
    scores = np.where(visible, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True)
    top = np.where(np.isfinite(top), top, 0.0)
    weights = np.exp(scores - top)
    total = weights.sum(axis=-1, keepdims=True)
    weights = weights / np.where(total == 0.0, 1.0, total)
    return np.matmul(weights, values).astype(q.dtype, copy=False)
