# style: a rolling cache whose name says that it keeps a window, and nothing else that could be meant
# warns: capacity
# only: incremental_equals_full, capacity, isolation
"""Sliding-window attention with a ring buffer (Mistral style rolling cache)."""
import numpy as np


class SlidingWindowKVCache:
    """Keeps the newest `window_size` tokens; slot = position % window_size."""

    def __init__(self, batch_size: int, num_kv_heads: int, window_size: int, head_dim: int, dtype=np.float32):
        self.window_size = window_size
        self.k = np.zeros((batch_size, num_kv_heads, window_size, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.seen = 0

    def update(self, k_new, v_new):
        """k_new, v_new: (B, H, T, D)"""
        for t in range(k_new.shape[2]):
            slot = self.seen % self.window_size
            self.k[:, :, slot] = k_new[:, :, t]
            self.v[:, :, slot] = v_new[:, :, t]
            self.seen += 1

    def ordered(self):
        n = min(self.seen, self.window_size)
        idx = (np.arange(self.seen - n, self.seen)) % self.window_size
        return self.k[:, :, idx], self.v[:, :, idx]

    def attend(self, q):
        """q (B, H, 1, D): the newest position."""
        k, v = self.ordered()
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True)) @ v


class SlidingWindowAttention:
    """Full reference: query i sees keys i - window_size + 1 .. i."""

    def __init__(self, window_size):
        self.window_size = window_size

    def __call__(self, q, k, v):
        n = q.shape[2]
        i, j = np.arange(n)[:, None], np.arange(n)[None]
        m = (j <= i) & (j > i - self.window_size)
        s = np.where(m, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True)) @ v


