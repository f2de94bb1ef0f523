"""Grouped-query attention over a BlockKVCache."""
from typing import Sequence

import numpy as np

from block_cache import BlockKVCache


def cached_attention(cache: BlockKVCache, lane: int, layer: int, q: np.ndarray) -> np.ndarray:
    """q (n, heads, head_dim): queries of the *last* n tokens of the lane, whose k, v are already in the cache.

    Returns (n, heads, head_dim).  Covers prefill (n = length), a chunk of it, and decoding (n = 1).
    """
    k, v = cache.gather(lane, layer)
    n, heads, dim = q.shape
    total, groups, _ = k.shape
    if n > total:
        raise ValueError(f"{n} queries, but only {total} tokens are cached")
    if heads % groups:
        raise ValueError("heads must be a multiple of kv_heads")
    q = q.reshape(n, groups, heads // groups, dim)
    scores = np.einsum("ngrd,tgd->grnt", q, k) / np.sqrt(dim)
    future = np.arange(total)[None, :] > np.arange(total - n, total)[:, None]
    scores[:, :, future] = -np.inf
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.einsum("grnt,tgd->ngrd", weights, v).reshape(n, heads, dim)


def decode_batch(cache: BlockKVCache, lanes: Sequence[int], layer: int, q: np.ndarray) -> np.ndarray:
    """One query per lane: q (len(lanes), heads, head_dim); the lanes may have any lengths."""
    return np.stack([cached_attention(cache, lane, layer, q[i:i + 1])[0] for i, lane in enumerate(lanes)])


def prefill(cache: BlockKVCache, lane: int, q: np.ndarray, k: np.ndarray, v: np.ndarray, chunk: int = 0) -> np.ndarray:
    """Store k, v (layers, n, kv_heads, dim) and attend with q (layers, n, heads, dim), ``chunk`` tokens at a time (0 = all)."""
    n = q.shape[1]
    step = chunk or max(n, 1)
    parts = []
    for a in range(0, n, step):
        cache.extend(lane, k[:, a:a + step], v[:, a:a + step])
        parts.append(np.stack([cached_attention(cache, lane, l, q[l, a:a + step]) for l in range(q.shape[0])]))
    return np.concatenate(parts, axis=1)
