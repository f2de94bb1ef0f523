# bug: the scale of int8 codes is never below 1, so that numbers are rounded to whole ones
# caught by: quantized
"""KV cache with int8 storage: one scale per token and head."""

import numpy as np


class Int8KVCache:
    def __init__(self, batch, num_heads, max_len, head_dim):
        shape = (batch, num_heads, max_len, head_dim)
        self.k_codes = np.zeros(shape, dtype=np.int8)
        self.v_codes = np.zeros(shape, dtype=np.int8)
        self.k_scale = np.zeros(shape[:3] + (1,), dtype=np.float32)
        self.v_scale = np.zeros(shape[:3] + (1,), dtype=np.float32)
        self.max_len = max_len
        self.length = 0

    @staticmethod
    def quantize(x):
        amax = np.max(np.abs(x), axis=-1, keepdims=True)
        scale = np.maximum(amax / 127.0, 1.0).astype(np.float32)
        codes = np.clip(np.rint(x / scale), -127, 127).astype(np.int8)
        return codes, scale

    @staticmethod
    def dequantize(codes, scale):
        return codes.astype(np.float32) * scale

    def append(self, k, v):
        """k, v: (batch, heads, new tokens, head_dim)."""
        new = k.shape[2]
        if self.length + new > self.max_len:
            raise ValueError(f"cache holds {self.max_len} tokens, {self.length + new} asked for")
        at = slice(self.length, self.length + new)
        self.k_codes[:, :, at], self.k_scale[:, :, at] = self.quantize(k)
        self.v_codes[:, :, at], self.v_scale[:, :, at] = self.quantize(v)
        self.length += new

    def get(self):
        s = slice(0, self.length)
        return (
            self.dequantize(self.k_codes[:, :, s], self.k_scale[:, :, s]),
            self.dequantize(self.v_codes[:, :, s], self.v_scale[:, :, s]),
        )


def cached_attention(q, cache):
    """q: (batch, heads, queries, head_dim), the last queries of what the cache holds."""
    k, v = cache.get()
    nq, nk = q.shape[2], k.shape[2]
    s = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    ahead = np.arange(nk)[None] > np.arange(nq)[:, None] + nk - nq
    s = np.where(ahead, -np.inf, s)
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", w / w.sum(-1, keepdims=True), v)
