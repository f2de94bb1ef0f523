# bug: queries of a padded batch stand where the chunk ends for the longest row, not where each row's own tokens end
# caught by: variable_lengths
# passes: incremental_equals_full, isolation, capacity, gqa
"""
Ragged, time-major KV cache for one attention layer
===================================================

The batch rows of a cache are independent sequences of different length.  The
buffers are time-major, ``(capacity, B, Hkv, D)``, which makes the common decode
write (one step for every row) a single fancy-indexed assignment, and makes
growing along time a plain block copy.

    cache = new_cache(batch=3, kv_heads=2, head_dim=64)
    push(cache, k_prompt, v_prompt, counts=[5, 2, 7])    # right-padded to T = 7
    out = attend(q_prompt, cache, fresh=[5, 2, 7])       # causal prefill
    push(cache, k_step, v_step)                          # (B, Hkv, D): one step
    out = attend(q_step, cache)                          # (B, Hq, D)

The capacity doubles as needed, so there is no "cache full" unless a hard
``limit`` is given; then ``CacheLimit`` is raised before anything is written.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Iterator, Optional, Sequence

import numpy as np


class CacheLimit(ValueError):
    """The push would take some row beyond the hard limit of the cache."""


@dataclass
class RaggedKV:
    """Plain state; use the functions of this module to work on it."""

    keys: np.ndarray                    # (capacity, B, Hkv, D)
    values: np.ndarray                  # (capacity, B, Hkv, D)
    fill: np.ndarray                    # (B,) valid steps per row
    limit: Optional[int] = None
    grown: int = field(default=0, repr=False)   # how many times the buffers grew

    @property
    def capacity(self) -> int:
        return self.keys.shape[0]

    @property
    def batch(self) -> int:
        return self.keys.shape[1]


def new_cache(
    *,
    batch: int,
    kv_heads: int,
    head_dim: int,
    reserve: int = 16,
    limit: Optional[int] = None,
    dtype=np.float32,
) -> RaggedKV:
    """Create an empty cache.  ``reserve`` is only the first allocation."""
    if min(batch, kv_heads, head_dim, reserve) < 1:
        raise ValueError("batch, kv_heads, head_dim and reserve must be positive")
    if limit is not None:
        reserve = min(reserve, limit)
    dims = (reserve, batch, kv_heads, head_dim)
    return RaggedKV(np.zeros(dims, dtype), np.zeros(dims, dtype), np.zeros(batch, np.int64), limit)


def _grow(cache: RaggedKV, need: int) -> None:
    if need <= cache.capacity:
        return
    size = max(need, 2 * cache.capacity)
    if cache.limit is not None:
        size = min(size, cache.limit)
    for name in ("keys", "values"):
        old = getattr(cache, name)
        new = np.zeros((size,) + old.shape[1:], old.dtype)
        new[: old.shape[0]] = old
        setattr(cache, name, new)
    cache.grown += 1


def _as_counts(counts, T: int, B: int) -> np.ndarray:
    if counts is None:
        return np.full(B, T, np.int64)
    counts = np.asarray(counts, np.int64)
    if counts.shape != (B,) or counts.min() < 0 or counts.max() > T:
        raise ValueError(f"counts must be {B} numbers between 0 and {T}")
    return counts


def push(
    cache: RaggedKV,
    k: np.ndarray,
    v: np.ndarray,
    counts: Optional[Sequence[int]] = None,
) -> np.ndarray:
    """Append to every row, in place, and return the new fill ``(B,)`` (a copy).

    ``k`` and ``v`` are ``(T, B, Hkv, D)``, or ``(B, Hkv, D)`` for a single step.
    With ``counts`` only the first ``counts[b]`` of the T steps of row ``b`` are
    stored (right padding); 0 leaves a row as it is.
    """
    k, v = np.asarray(k), np.asarray(v)
    if k.ndim == 3:
        k, v = k[None], v[None]
    if k.shape != v.shape or k.shape[1:] != cache.keys.shape[1:]:
        raise ValueError(f"k/v must be (T,) + {cache.keys.shape[1:]}, got {k.shape} and {v.shape}")
    T, B = k.shape[:2]
    counts = _as_counts(counts, T, B)
    after = cache.fill + counts
    if cache.limit is not None and after.max() > cache.limit:
        b = int(after.argmax())
        raise CacheLimit(f"row {b} would hold {int(after[b])} steps, the limit is {cache.limit}")
    _grow(cache, int(after.max()))

    t, b = np.nonzero(np.arange(T)[:, None] < counts[None, :])
    cache.keys[cache.fill[b] + t, b] = k[t, b]
    cache.values[cache.fill[b] + t, b] = v[t, b]
    cache.fill = after
    return after.copy()


def rows(cache: RaggedKV) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield ``(k, v)``, each ``(fill[b], Hkv, D)``, row by row (read-only views)."""
    for b in range(cache.batch):
        pair = cache.keys[: cache.fill[b], b], cache.values[: cache.fill[b], b]
        for a in pair:
            a.flags.writeable = False
        yield pair


def recycle(cache: RaggedKV, which: Sequence[int]) -> None:
    """Empty the given rows so that new sequences can use them."""
    cache.fill[list(which)] = 0


def attend(
    q: np.ndarray,
    cache: RaggedKV,
    fresh: Optional[Sequence[int]] = None,
    scale: Optional[float] = None,
) -> np.ndarray:
    """Causal attention of the newest steps of every row over its whole cache.

    Call it after ``push``: the queries belong to the steps that were pushed
    last, so a query sees its own step and everything before it.

    Args:
        q: ``(T, B, Hq, D)`` or ``(B, Hq, D)`` for a single step; ``Hq`` is a
            multiple of ``Hkv`` (grouped-query attention).
        fresh: real queries per row, as ``counts`` in ``push``; default T each.
            Padding queries come back as zeros.
        scale: default ``1 / sqrt(D)``.

    Returns:
        Array of the shape of ``q``.
    """
    q = np.asarray(q)
    single = q.ndim == 3
    if single:
        q = q[None]
    T, B, Hq, D = q.shape
    Hkv = cache.keys.shape[2]
    if Hq % Hkv:
        raise ValueError(f"{Hq} query heads cannot share {Hkv} kv heads evenly")
    fresh = _as_counts(fresh, T, B)
    if np.any(fresh > cache.fill):
        raise ValueError("more fresh queries than cached steps; push first")
    scale = D ** -0.5 if scale is None else scale

    S = int(cache.fill.max())
    if S == 0:
        return np.zeros_like(q[0] if single else q)
    K, V = cache.keys[:S], cache.values[:S]

    # Absolute position of query t in row b: the chunk ends at the row's fill.
    first = cache.fill - T                                            # (B,)
    where = first[None, :] + np.arange(T)[:, None]                    # (T, B)
    visible = np.arange(S)[None, None, :] <= where[:, :, None]        # (T, B, S)
    visible &= np.arange(S)[None, None, :] < cache.fill[None, :, None]

    qg = q.reshape(T, B, Hkv, Hq // Hkv, D)
    logits = np.einsum("tbhgd,sbhd->tbhgs", qg, K) * scale
    logits = np.where(visible[:, :, None, None, :], logits, -np.inf)
    peak = logits.max(axis=-1, keepdims=True)
    weights = np.exp(logits - np.where(np.isfinite(peak), peak, 0.0))
    total = weights.sum(axis=-1, keepdims=True)
    weights /= np.where(total > 0, total, 1.0)
    out = np.einsum("tbhgs,sbhd->tbhgd", weights, V).reshape(T, B, Hq, D)

    real = np.arange(T)[:, None] < fresh[None, :]                     # (T, B)
    out = np.where(real[:, :, None, None], out, 0.0).astype(q.dtype)
    return out[0] if single else out
