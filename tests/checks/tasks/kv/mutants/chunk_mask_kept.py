# bug: the mask of the last chunk is kept by its shape, though the next one of that shape begins elsewhere
# caught by: chunked_prefill
# passes: incremental_equals_full, gqa, isolation, capacity
"""Multi-head attention with a key/value cache for autoregressive inference.

The cache grows in fixed buckets.  Attention always runs over whole buckets (static shapes, as an accelerator likes
them) and hides the slots that are not valid with a boolean mask.

>>> mha = CachedMultiHeadAttention(embed_dim=64, num_heads=4)
>>> cache = mha.make_cache(batch_size=2)
>>> y = mha.prefill(prompt, cache)          # (B, T, E); may be called several times (chunked prefill)
>>> y = mha.decode(token, cache)            # (B, 1, E)
"""
from __future__ import annotations

import math

import numpy as np

BUCKET = 32


def _round_up(n: int, multiple: int) -> int:
    return (n + multiple - 1) // multiple * multiple


class KVCache:
    """Keys and values as (B, H_kv, capacity, D), capacity a multiple of ``bucket``, limited by ``max_seq_len``."""

    def __init__(self, batch_size: int, num_kv_heads: int, head_dim: int, max_seq_len: int = 2048,
                 dtype: type = np.float32, bucket: int = BUCKET) -> None:
        self.max_seq_len = max_seq_len
        self.bucket = bucket
        self.length = 0
        shape = (batch_size, num_kv_heads, bucket, head_dim)
        self.keys = np.zeros(shape, dtype=dtype)
        self.values = np.zeros(shape, dtype=dtype)
        self._mask_key: tuple[int, int] | None = None
        self._mask: np.ndarray | None = None

    def __len__(self) -> int:
        return self.length

    @property
    def capacity(self) -> int:
        return self.keys.shape[2]

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def append(self, k: np.ndarray, v: np.ndarray) -> int:
        """Store (B, H_kv, T, D) behind the valid tokens; returns the position of the first new token."""
        start, end = self.length, self.length + k.shape[2]
        if end > self.max_seq_len:
            raise ValueError(f"KV cache overflow: {end} tokens > max_seq_len={self.max_seq_len}")
        if end > self.capacity:
            self._grow(max(_round_up(end, self.bucket), min(2 * self.capacity, _round_up(self.max_seq_len, self.bucket))))
        self.keys[:, :, start:end] = k
        self.values[:, :, start:end] = v
        self.length = end
        return start

    def read(self) -> tuple[np.ndarray, np.ndarray]:
        """The valid tokens, (B, H_kv, length, D) views."""
        return self.keys[:, :, :self.length], self.values[:, :, :self.length]

    def window(self) -> tuple[np.ndarray, np.ndarray]:
        """The valid tokens, padded to whole buckets."""
        n = _round_up(self.length, self.bucket)
        return self.keys[:, :, :n], self.values[:, :, :n]

    def attention_mask(self, start: int, num_queries: int) -> np.ndarray:
        """(T, window) booleans, True where query ``start + i`` may look at slot ``j``.

        The mask of the last small chunk is kept: chunked prefill asks for the same static shape again and again.
        Larger ones are built on the spot, so that what is kept stays far below the size of the cache itself.
        """
        width = _round_up(self.length, self.bucket)
        slots = np.arange(width)
        if num_queries == 1:                          # decode: all that is stored
            return (slots < self.length)[None, :]
        key = (num_queries, width)
        if key == self._mask_key:
            return self._mask
        mask = slots[None, :] <= np.arange(start, start + num_queries)[:, None]
        if num_queries <= self.bucket:
            self._mask_key, self._mask = key, mask
        return mask

    def reset(self) -> None:
        self.length = 0
        self._mask_key = self._mask = None

    def _grow(self, capacity: int) -> None:
        for name in ("keys", "values"):
            old = getattr(self, name)
            new = np.zeros(old.shape[:2] + (capacity,) + old.shape[3:], dtype=old.dtype)
            new[:, :, :self.length] = old[:, :, :self.length]
            setattr(self, name, new)


def masked_attention(q: np.ndarray, k: np.ndarray, v: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """q (B, H, T, D), k/v (B, H_kv, S, D), mask (T, S) -> (B, H, T, D)."""
    groups = q.shape[1] // k.shape[1]
    if groups > 1:
        k, v = np.repeat(k, groups, axis=1), np.repeat(v, groups, axis=1)
    scores = np.matmul(q, k.transpose(0, 1, 3, 2)) / q.dtype.type(math.sqrt(q.shape[-1]))
    scores = np.where(mask, scores, -np.inf)
    scores -= scores.max(axis=-1, keepdims=True)
    weights = np.exp(scores)
    weights /= weights.sum(axis=-1, keepdims=True)
    return np.matmul(weights, v)


class CachedMultiHeadAttention:
    def __init__(self, embed_dim: int, num_heads: int, num_kv_heads: int | None = None,
                 dtype: type = np.float32, seed: int = 0) -> None:
        num_kv_heads = num_kv_heads or num_heads
        if embed_dim % num_heads or num_heads % num_kv_heads:
            raise ValueError("embed_dim % num_heads and num_heads % num_kv_heads must be 0")
        self.embed_dim, self.num_heads, self.num_kv_heads = embed_dim, num_heads, num_kv_heads
        self.head_dim, self.dtype = embed_dim // num_heads, dtype
        rng = np.random.default_rng(seed)

        def weight(n_out: int) -> np.ndarray:
            return (rng.standard_normal((embed_dim, n_out)) / math.sqrt(embed_dim)).astype(dtype)

        self.Wq, self.Wo = weight(embed_dim), weight(embed_dim)
        self.Wk, self.Wv = weight(num_kv_heads * self.head_dim), weight(num_kv_heads * self.head_dim)

    def make_cache(self, batch_size: int, max_seq_len: int = 2048) -> KVCache:
        return KVCache(batch_size, self.num_kv_heads, self.head_dim, max_seq_len, self.dtype)

    def _heads(self, y: np.ndarray, n: int) -> np.ndarray:
        return y.reshape(y.shape[0], y.shape[1], n, self.head_dim).transpose(0, 2, 1, 3)

    def _project(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return (self._heads(x @ self.Wq, self.num_heads), self._heads(x @ self.Wk, self.num_kv_heads),
                self._heads(x @ self.Wv, self.num_kv_heads))

    def _merge(self, o: np.ndarray) -> np.ndarray:
        return o.transpose(0, 2, 1, 3).reshape(o.shape[0], o.shape[2], self.embed_dim) @ self.Wo

    def prefill(self, x: np.ndarray, cache: KVCache) -> np.ndarray:
        """Process (B, T, E) tokens that follow what the cache holds."""
        x = np.asarray(x, dtype=self.dtype)
        q, k, v = self._project(x)
        start = cache.append(k, v)
        mask = cache.attention_mask(start, x.shape[1])
        return self._merge(masked_attention(q, *cache.window(), mask))

    def decode(self, x: np.ndarray, cache: KVCache) -> np.ndarray:
        """One new token per sequence, (B, 1, E) or (B, E)."""
        x = np.asarray(x)
        return self.prefill(x[:, None] if x.ndim == 2 else x, cache)

    def chunked_prefill(self, x: np.ndarray, cache: KVCache, chunk_size: int = BUCKET) -> np.ndarray:
        return np.concatenate([self.prefill(x[:, i:i + chunk_size], cache)
                               for i in range(0, x.shape[1], chunk_size)], axis=1)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Full causal attention without a cache."""
        x = np.asarray(x, dtype=self.dtype)
        return self._merge(masked_attention(*self._project(x), np.tri(x.shape[1], dtype=bool)))
