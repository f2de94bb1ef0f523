# right: attention is an object of its own, made from heads and width, and is handed a growing cache
# skips: isolation (nothing past a length), variable_lengths (takes no lengths)
import numpy as np


class GrowingKVCache:
    """Doubles its buffers when they are full. Layout (B, H, S, D)."""

    def __init__(self, batch, heads, dim, initial_capacity=4, dtype=np.float32):
        self.buf_k = np.zeros((batch, heads, initial_capacity, dim), dtype)
        self.buf_v = np.zeros((batch, heads, initial_capacity, dim), dtype)
        self.size = 0

    def _reserve(self, n):
        cap = self.buf_k.shape[2]
        if n <= cap:
            return
        while cap < n:
            cap *= 2
        for name in ("buf_k", "buf_v"):
            old = getattr(self, name)
            new = np.zeros(old.shape[:2] + (cap, old.shape[3]), old.dtype)
            new[:, :, : self.size] = old[:, :, : self.size]
            setattr(self, name, new)

    def append(self, k, v):
        t = k.shape[2]
        self._reserve(self.size + t)
        self.buf_k[:, :, self.size : self.size + t] = k
        self.buf_v[:, :, self.size : self.size + t] = v
        self.size += t

    @property
    def keys(self):
        return self.buf_k[:, :, : self.size]

    @property
    def values(self):
        return self.buf_v[:, :, : self.size]


class CachedAttention:
    def __init__(self, num_heads, head_dim):
        self.num_heads = num_heads
        self.head_dim = head_dim
        self.scale = 1 / np.sqrt(head_dim)

    def prefill(self, q, k, v, cache):
        cache.append(k, v)
        return self._attend(q, cache.keys, cache.values)

    def decode_step(self, q, k, v, cache):
        cache.append(k, v)
        return self._attend(q, cache.keys, cache.values)

    def _attend(self, q, k, v):
        s = np.einsum("bhqd,bhkd->bhqk", q, k) * self.scale
        nq, nk = s.shape[-2:]
        s[..., np.triu(np.ones((nq, nk), bool), nk - nq + 1)] = -np.inf
        s = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhqk,bhkd->bhqd", s / s.sum(-1, keepdims=True), v)
