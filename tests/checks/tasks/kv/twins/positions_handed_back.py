# right: an append gives positions, which attention takes back
"""KV cache and cached attention for batched autoregressive inference (NumPy).

Storage
-------
Keys and values live in two arrays of shape ``(layers, batch, kv_heads, capacity, head_dim)``.
Every (layer, row) pair has its own length, so the rows of a batch may have different
lengths and the layers of a model may be filled one after the other within a step.

The position contract
---------------------
``append_step`` / ``append_many`` *return the absolute positions* they wrote, and
``cached_attention`` takes those positions back.  There is therefore only one place where a
position is computed, and padding is marked explicitly with ``-1``:

    pos = append_many(cache, layer, k, v, counts)       # (B, T), -1 where padded
    out = cached_attention(q, pos, cache, layer)        # (B, Hq, T, D), 0 where padded

The buffers grow geometrically.  Pass ``max_len`` to put a hard ceiling on them; an append
that would cross it raises ``CacheFullError`` and leaves the cache exactly as it was.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class CacheFullError(RuntimeError):
    """An append would exceed ``max_len``."""


@dataclass
class KVCache:
    """Plain data; all operations are module-level functions."""

    keys: np.ndarray      # (L, B, Hkv, capacity, D)
    values: np.ndarray    # (L, B, Hkv, capacity, D)
    lengths: np.ndarray   # (L, B) number of valid slots
    max_len: int | None = None

    @property
    def capacity(self) -> int:
        return self.keys.shape[3]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes + self.lengths.nbytes


def create_cache(n_layers: int, batch: int, n_kv_heads: int, head_dim: int,
                 capacity: int = 64, dtype=np.float32, max_len: int | None = None) -> KVCache:
    """Allocate an empty cache."""
    if min(n_layers, batch, n_kv_heads, head_dim, capacity) < 1:
        raise ValueError("all cache dimensions must be positive")
    if max_len is not None:
        if max_len < 1:
            raise ValueError("max_len must be positive")
        capacity = min(capacity, max_len)
    shape = (n_layers, batch, n_kv_heads, capacity, head_dim)
    return KVCache(np.zeros(shape, dtype), np.zeros(shape, dtype),
                   np.zeros((n_layers, batch), np.int64), max_len)


def _reserve(cache: KVCache, needed: int) -> None:
    """Make room for ``needed`` slots per row, in every layer; existing data is preserved."""
    if cache.max_len is not None and needed > cache.max_len:
        raise CacheFullError(f"append needs {needed} slots but max_len is {cache.max_len}")
    old = cache.capacity
    if needed <= old:
        return
    new = max(needed, 2 * old)
    if cache.max_len is not None:
        new = min(new, cache.max_len)
    for name in ("keys", "values"):
        src = getattr(cache, name)
        dst = np.zeros(src.shape[:3] + (new,) + src.shape[4:], src.dtype)
        dst[:, :, :, :old] = src
        setattr(cache, name, dst)


def append_many(cache: KVCache, layer: int, k_new, v_new, counts=None) -> np.ndarray:
    """Append up to T tokens per row.

    Args:
        k_new, v_new: (B, Hkv, T, D), right padded.
        counts: (B,) how many of the T tokens are real in each row (default: all T).

    Returns:
        (B, T) absolute positions of the new tokens, -1 for padding.
    """
    k_new, v_new = np.asarray(k_new), np.asarray(v_new)
    _, B, H, _, D = cache.keys.shape
    if k_new.ndim != 4 or k_new.shape[:2] != (B, H) or k_new.shape[3] != D:
        raise ValueError(f"expected k of shape ({B}, {H}, T, {D}), got {k_new.shape}")
    if v_new.shape != k_new.shape:
        raise ValueError(f"k and v differ in shape: {k_new.shape} vs {v_new.shape}")
    T = k_new.shape[2]
    counts = np.full(B, T, np.int64) if counts is None else np.asarray(counts, np.int64)
    if counts.shape != (B,) or (counts < 0).any() or (counts > T).any():
        raise ValueError(f"counts must be {B} integers in [0, {T}]")

    start = cache.lengths[layer].copy()
    _reserve(cache, int((start + counts).max()))      # raises before anything is written
    offset = np.arange(T)
    positions = np.where(offset < counts[:, None], start[:, None] + offset, -1)
    for b in range(B):
        n, s = counts[b], start[b]
        cache.keys[layer, b, :, s:s + n] = k_new[b, :, :n]
        cache.values[layer, b, :, s:s + n] = v_new[b, :, :n]
    cache.lengths[layer] = start + counts
    return positions


def append_step(cache: KVCache, layer: int, k_t, v_t, active=None) -> np.ndarray:
    """Append one token per row; ``k_t, v_t`` are (B, Hkv, D).

    ``active`` (B,) bool leaves finished rows untouched.  Returns (B, 1) positions.
    """
    counts = None if active is None else np.asarray(active, bool).astype(np.int64)
    return append_many(cache, layer, np.asarray(k_t)[:, :, None], np.asarray(v_t)[:, :, None], counts)


def read_row(cache: KVCache, layer: int, row: int) -> tuple[np.ndarray, np.ndarray]:
    """Copies of the valid keys and values of one row, each (Hkv, length, D)."""
    n = cache.lengths[layer, row]
    return cache.keys[layer, row, :, :n].copy(), cache.values[layer, row, :, :n].copy()


def read_batch(cache: KVCache, layer: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(K, V, valid): K, V (B, Hkv, S, D) zero padded to the longest row, valid (B, S) bool."""
    n = cache.lengths[layer]
    S = int(n.max())
    valid = np.arange(S) < n[:, None]
    keep = valid[:, None, :, None]
    return (np.where(keep, cache.keys[layer, :, :, :S], 0),
            np.where(keep, cache.values[layer, :, :, :S], 0), valid)


def truncate_row(cache: KVCache, row: int, length: int = 0) -> None:
    """Forget everything from ``length`` on in one row, in all layers (0 frees the row)."""
    if length < 0:
        raise ValueError("length must not be negative")
    cache.lengths[:, row] = np.minimum(cache.lengths[:, row], length)


def cached_attention(q, positions, cache: KVCache, layer: int) -> np.ndarray:
    """Causal attention of new queries over the cached keys and values of one layer.

    Args:
        q: (B, Hq, T, D); Hq is a multiple of Hkv and query head h uses kv head h // (Hq / Hkv).
        positions: (B, T) absolute positions as returned by the append; -1 means padding.

    Returns:
        (B, Hq, T, D).  A query at position p sees slots 0..p of its own row and no others;
        padding queries give zeros.
    """
    q, positions = np.asarray(q), np.asarray(positions)
    B, Hq, T, D = q.shape
    Hkv = cache.keys.shape[2]
    if Hq % Hkv:
        raise ValueError(f"{Hq} query heads are not a multiple of {Hkv} kv heads")
    if positions.shape != (B, T):
        raise ValueError(f"positions must have shape {(B, T)}, got {positions.shape}")
    if (positions >= cache.lengths[layer][:, None]).any():
        raise ValueError("a query position is not in the cache yet: append before attending")

    K, V, _ = read_batch(cache, layer)
    acc = np.result_type(q.dtype, K.dtype, np.float32)
    grouped = q.astype(acc).reshape(B, Hkv, Hq // Hkv, T, D) / np.sqrt(acc.type(D))
    scores = np.einsum("bkgtd,bksd->bkgts", grouped, K.astype(acc))

    visible = np.arange(K.shape[2]) <= positions[:, :, None]          # (B, T, S)
    visible = visible[:, None, None]
    scores = np.where(visible, scores, -np.inf)
    top = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    weights = np.exp(scores - np.where(np.isfinite(top), top, 0))
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total > 0, total, 1)
    out = np.einsum("bkgts,bksd->bkgtd", weights, V.astype(acc))
    return out.reshape(B, Hq, T, D).astype(q.dtype)


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    demo = create_cache(1, 2, 2, 8, capacity=4)
    kv = rng.standard_normal((2, 2, 2, 5, 8)).astype(np.float32)
    p = append_many(demo, 0, kv[0], kv[1], counts=[5, 3])
    print(p, demo.capacity, demo.lengths)
    print(cached_attention(rng.standard_normal((2, 4, 5, 8)), p, demo, 0).shape)
