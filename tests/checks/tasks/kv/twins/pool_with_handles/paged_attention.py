"""Attention straight over the pages of a :class:`KVPool` (no gather)."""
from __future__ import annotations

import math

import numpy as np

from kv_pool import KVPool


def paged_attention(q: np.ndarray, pool: KVPool, handle: int, layer: int) -> np.ndarray:
    """Causal attention of the *newest* T positions of a sequence.

    q is (T, heads, head_dim); its keys must already be in the pool, so that
    row t sits at position ``length - T + t``.  ``heads`` is any multiple of the
    pool's kv_heads: query head h reads kv head ``h // (heads // kv_heads)``.
    Returns (T, heads, head_dim).
    """
    t, heads, d = q.shape
    kvh = pool.spec.kv_heads
    if heads % kvh:
        raise ValueError(f"{heads} query heads over {kvh} kv heads")
    length = pool.length(handle, layer)
    if t > length:
        raise ValueError("append the keys before attending")
    group = heads // kvh
    # (kvh, group * T, d): the group shares its keys, so fold it in the rows
    rows = q.reshape(t, kvh, group, d).transpose(1, 2, 0, 3).reshape(kvh, group * t, d)
    rows = rows / math.sqrt(d)
    limit = np.tile(np.arange(length - t, length), group)          # position of each row

    top = np.full((kvh, group * t), -np.inf, rows.dtype)
    norm = np.zeros_like(top)
    acc = np.zeros_like(rows)
    for start, k, v in pool.pages(handle, layer):
        s = rows @ k.swapaxes(1, 2)
        future = np.arange(start, start + k.shape[1]) > limit[:, None]
        s[:, future] = -np.inf
        new_top = np.maximum(top, s.max(axis=-1))
        p = np.exp(s - new_top[..., None])
        decay = np.exp(top - new_top)
        norm = norm * decay + p.sum(axis=-1)
        acc = acc * decay[..., None] + p @ v
        top = new_top
    out = acc / norm[..., None]
    return out.reshape(kvh, group, t, d).transpose(2, 0, 1, 3).reshape(t, heads, d)
