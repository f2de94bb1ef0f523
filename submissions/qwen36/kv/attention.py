"""
Attention variants that work with the KV-cache.

    standard_attention     full attention, optionally causal       (reference)
    cached_attention       new queries against a KV-cache           (decode)
    masked_attention       padded batch with individual lengths     (prefill)
    gqa_attention          fewer KV heads than query heads
    mqa_attention          a single KV head for all query heads

All tensors are BHSD: (batch, heads, seq, head_dim). Storage is usually
float32; scores, softmax and the weighted sum are accumulated in float64 and
the result is returned in the dtype of the queries.

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d) + mask) V
"""

from __future__ import annotations

from typing import Optional

import numpy as np


def softmax(scores: np.ndarray, axis: int = -1) -> np.ndarray:
    """
    Stable softmax. A row that is masked out completely (all -inf) yields zeros
    instead of NaN, which is what a padded query row needs.
    """
    row_max = np.max(scores, axis=axis, keepdims=True, initial=-np.inf)
    row_max = np.where(np.isfinite(row_max), row_max, 0.0)
    weights = np.exp(scores - row_max)
    total = np.sum(weights, axis=axis, keepdims=True)
    return weights / np.where(total > 0.0, total, 1.0)


def causal_mask(num_queries: int, num_keys: int) -> np.ndarray:
    """
    (num_queries, num_keys) bool, True where query i may attend to key j.

    The queries are the *last* ``num_queries`` positions, so query i sits at
    absolute position ``num_keys - num_queries + i``.
    """
    query_pos = np.arange(num_queries)[:, None] + (num_keys - num_queries)
    return np.arange(num_keys)[None, :] <= query_pos


def length_mask(seq_lens: np.ndarray, num_keys: int) -> np.ndarray:
    """(batch, 1, 1, num_keys) bool, True for keys that hold a real token."""
    seq_lens = np.asarray(seq_lens)
    return (np.arange(num_keys)[None, :] < seq_lens[:, None])[:, None, None, :]


def _attend(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    mask: Optional[np.ndarray],
    scale: Optional[float],
) -> np.ndarray:
    """Masked scaled dot-product attention; ``mask`` broadcasts to the scores."""
    if scale is None:
        scale = 1.0 / np.sqrt(q.shape[-1])
    q64 = q.astype(np.float64)
    k64 = k.astype(np.float64)
    v64 = v.astype(np.float64)

    scores = np.matmul(q64, np.swapaxes(k64, -1, -2)) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    return np.matmul(softmax(scores), v64).astype(q.dtype)


def standard_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool = False,
    scale: Optional[float] = None,
) -> np.ndarray:
    """
    Full attention without a cache.

    Args:
        q: (batch, heads, num_queries, head_dim)
        k: (batch, heads, num_keys, head_dim)
        v: (batch, heads, num_keys, head_dim)
        causal: queries are the last positions and see no later key

    Returns:
        (batch, heads, num_queries, head_dim)
    """
    mask = causal_mask(q.shape[2], k.shape[2]) if causal else None
    return _attend(q, k, v, mask, scale)


def cached_attention(
    q: np.ndarray,
    cache,
    query_positions: Optional[np.ndarray] = None,
    scale: Optional[float] = None,
) -> np.ndarray:
    """
    Attention of new queries over everything in the cache.

    The keys and values of the new tokens must already be in the cache. The
    full cache is fetched on every call through ``cache.get_all()``; a GPU
    kernel would stream only the pages or tiles it needs. Any cache with
    ``get_all()`` and ``seq_lens`` works (contiguous, paged, quantized), and
    grouped-query caches with fewer KV heads are detected from the shapes.

    Args:
        q: (batch, q_heads, num_queries, head_dim); num_queries = 1 for decode
        cache: KVCache or a compatible cache
        query_positions: (batch, num_queries) absolute positions; by default the
            queries are the last ``num_queries`` tokens of each sequence

    Returns:
        (batch, q_heads, num_queries, head_dim)
    """
    keys, values = cache.get_all()
    seq_lens = np.asarray(cache.seq_lens)
    num_queries, num_keys = q.shape[2], keys.shape[2]

    if query_positions is None:
        query_positions = seq_lens[:, None] - num_queries + np.arange(num_queries)
    visible = np.arange(num_keys)[None, None, :] <= query_positions[:, :, None]
    mask = visible[:, None, :, :] & length_mask(seq_lens, num_keys)

    if q.shape[1] != keys.shape[1]:
        return gqa_attention(q, keys, values, mask=mask, scale=scale)
    return _attend(q, keys, values, mask, scale)


def masked_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    seq_lens: np.ndarray,
    causal: bool = True,
    scale: Optional[float] = None,
) -> np.ndarray:
    """
    Self-attention of a right-padded batch with individual lengths.

    Args:
        q, k, v: (batch, heads, padded_len, head_dim)
        seq_lens: (batch,) real length of each sequence

    Returns:
        (batch, heads, padded_len, head_dim); rows of padding are zero
    """
    padded_len = k.shape[2]
    valid_keys = length_mask(seq_lens, padded_len)
    mask = valid_keys
    if causal:
        mask = mask & causal_mask(q.shape[2], padded_len)[None, None]

    out = _attend(q, k, v, mask, scale)
    valid_queries = np.swapaxes(length_mask(seq_lens, q.shape[2]), -1, -2)
    return np.where(valid_queries, out, np.zeros((), dtype=out.dtype))


def repeat_kv(x: np.ndarray, num_repeats: int) -> np.ndarray:
    """
    Expand KV heads to query heads: (B, H_kv, S, D) -> (B, H_kv * num_repeats, S, D).

    Query head h uses KV head h // num_repeats. Only used as a reference:
    gqa_attention never materializes the repeated heads.
    """
    if num_repeats == 1:
        return x
    return np.repeat(x, num_repeats, axis=1)


def gqa_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool = False,
    mask: Optional[np.ndarray] = None,
    scale: Optional[float] = None,
) -> np.ndarray:
    """
    Grouped-query attention (Llama-2-70B, Llama-3, Mistral).

    Each group of H_q / H_kv query heads shares one KV head, so the cache
    shrinks by that factor.

    Args:
        q: (batch, q_heads, num_queries, head_dim)
        k: (batch, kv_heads, num_keys, head_dim)
        v: (batch, kv_heads, num_keys, head_dim)
        mask: bool, broadcastable to (batch, 1, num_queries, num_keys)

    Returns:
        (batch, q_heads, num_queries, head_dim)
    """
    batch, q_heads, num_queries, head_dim = q.shape
    kv_heads = k.shape[1]
    if q_heads % kv_heads != 0:
        raise ValueError(f"{q_heads} query heads cannot share {kv_heads} KV heads")

    group = q_heads // kv_heads
    grouped_q = q.reshape(batch, kv_heads, group, num_queries, head_dim)
    if causal:
        allowed = causal_mask(num_queries, k.shape[2])[None, None]
        mask = allowed if mask is None else mask & allowed
    if mask is not None:
        mask = mask[:, :, None]                    # broadcast over the group axis

    out = _attend(grouped_q, k[:, :, None], v[:, :, None], mask, scale)
    return out.reshape(batch, q_heads, num_queries, head_dim)


def mqa_attention(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    causal: bool = False,
    scale: Optional[float] = None,
) -> np.ndarray:
    """Multi-query attention: k and v are (batch, 1, num_keys, head_dim)."""
    if k.shape[1] != 1:
        raise ValueError(f"MQA expects one KV head, got {k.shape[1]}")
    return gqa_attention(q, k, v, causal=causal, scale=scale)
