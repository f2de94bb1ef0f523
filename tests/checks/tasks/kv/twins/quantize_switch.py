# style: one class for both, told by a switch of the constructor to keep eight bits; attention by a function
# only: quantized, incremental_equals_full
"""KV cache with optional int8 storage; fused decode step."""
import numpy as np


class KVCache:
    def __init__(self, max_len, n_heads, head_dim, quantize=False):
        self.max_len, self.quantize = max_len, quantize
        self.k = np.zeros((n_heads, max_len, head_dim), np.int8 if quantize else np.float32)
        self.v = np.zeros_like(self.k)
        self.ks = np.ones((n_heads, max_len), np.float32)
        self.vs = np.ones((n_heads, max_len), np.float32)
        self.len = 0

    def _put(self, buf, scale, x):
        if not self.quantize:
            buf[:, self.len] = x
            return
        s = np.maximum(np.abs(x).max(-1), 1e-8) / 127
        buf[:, self.len] = np.rint(x / s[:, None]).astype(np.int8)
        scale[:, self.len] = s

    def append(self, k, v):
        """k, v (n_heads, head_dim)"""
        if self.len >= self.max_len:
            raise RuntimeError("KV cache is full")
        self._put(self.k, self.ks, k)
        self._put(self.v, self.vs, v)
        self.len += 1

    def get(self):
        k, v = self.k[:, :self.len].astype(np.float32), self.v[:, :self.len].astype(np.float32)
        return k * self.ks[:, :self.len, None], v * self.vs[:, :self.len, None]


def attention_step(q, k, v, cache):
    """q, k, v (n_heads, head_dim) of the new token -> (n_heads, head_dim)"""
    cache.append(k, v)
    K, V = cache.get()
    s = np.einsum("hd,htd->ht", q, K) / np.sqrt(q.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("ht,htd->hd", p / p.sum(-1, keepdims=True), V)


