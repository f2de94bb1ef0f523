# Heads come back joined; a class method makes the cache, whose buffers are handed to it; kv heads are repeated.
# skips: variable_lengths (no call takes lengths)
from dataclasses import dataclass

import numpy as np


@dataclass
class KVCache:
    k: np.ndarray
    v: np.ndarray
    length: int = 0

    @classmethod
    def create(cls, batch, n_kv_heads, max_len, head_dim, dtype=np.float32):
        return cls(np.zeros((batch, n_kv_heads, max_len, head_dim), dtype), np.zeros((batch, n_kv_heads, max_len, head_dim), dtype))


def update(cache: KVCache, k, v):
    end = cache.length + k.shape[2]
    assert end <= cache.k.shape[2], "cache overflow"
    cache.k[:, :, cache.length:end], cache.v[:, :, cache.length:end] = k, v
    cache.length = end
    return cache


def cached_attention(q, cache: KVCache, causal=True):
    B, H, T, D = q.shape
    n, group = cache.length, H // cache.k.shape[1]
    K, V = (np.repeat(x[:, :, :n], group, 1) for x in (cache.k, cache.v))
    s = q @ K.swapaxes(2, 3) / np.sqrt(D)
    if causal:
        s = np.where(np.tril(np.ones((T, n), bool), n - T), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True) @ V).transpose(0, 2, 1, 3).reshape(B, T, H * D)
