# right: a window whose prompts begin a text anew, and whose steps go on behind it
# warns: capacity
# only: capacity, incremental_equals_full
"""A sliding window: a prompt begins a text, and steps follow; only the newest tokens are seen."""

import numpy as np


class SlidingWindowCache:
    def __init__(self, batch, num_heads, head_dim, window, dtype=np.float32):
        self.window = window
        self.k = np.zeros((batch, num_heads, 0, head_dim), dtype)
        self.v = self.k

    def keep(self, k, v):
        self.k, self.v = k[:, :, -self.window :], v[:, :, -self.window :]


class WindowAttention:
    def __init__(self, cache):
        self.cache = cache

    def prefill(self, q, k, v):
        """The whole prompt of a new text: (B, H, T, D) each."""
        self.cache.keep(k, v)
        t = np.arange(k.shape[2])
        mask = (t <= t[:, None]) & (t > t[:, None] - self.cache.window)
        return attend(q, k, v, mask)

    def decode(self, q, k, v):
        """The next token: (B, H, 1, D) each."""
        cache = self.cache
        cache.keep(np.concatenate([cache.k, k], axis=2), np.concatenate([cache.v, v], axis=2))
        return attend(q, cache.k, cache.v, True)


def attend(q, k, v, mask):
    s = np.where(mask, q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]), -np.inf)
    p = np.exp(s - s.max(3, keepdims=True))
    return p / p.sum(3, keepdims=True) @ v
