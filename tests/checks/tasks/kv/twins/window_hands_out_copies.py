# style: a window that hands out copies of what it holds, and a layer with weights of its own over it
# passes: cache_size_minimality
# only: cache_size_minimality
"""Sliding-window KV cache: the newest `window` tokens, in order."""

import numpy as np


class SlidingWindowKVCache:
    def __init__(self, batch_size, num_heads, head_dim, window, dtype=np.float32):
        self.window = window
        self.keys = np.zeros((batch_size, num_heads, window, head_dim), dtype=dtype)
        self.values = np.zeros_like(self.keys)
        self.seen = 0  # tokens given so far

    def __len__(self):
        return min(self.seen, self.window)

    def update(self, k, v):
        """Append (B, H, S, D) and return what is now visible."""
        for t in range(k.shape[2]):
            self._push(k[:, :, t], v[:, :, t])
        n = len(self)
        return self.keys[:, :, :n].copy(), self.values[:, :, :n].copy()

    def _push(self, k, v):
        if self.seen >= self.window:
            self.keys[:, :, :-1] = self.keys[:, :, 1:].copy()
            self.values[:, :, :-1] = self.values[:, :, 1:].copy()
        slot = min(self.seen, self.window - 1)
        self.keys[:, :, slot] = k
        self.values[:, :, slot] = v
        self.seen += 1


class WindowedAttention:
    """Multi-head attention with a window; prefill and decode go through the same cache."""

    def __init__(self, d_model=32, num_heads=4, window=8, seed=0):
        r = np.random.default_rng(seed)
        self.h, self.d = num_heads, d_model // num_heads
        self.wq, self.wk, self.wv, self.wo = (
            r.normal(0, d_model**-0.5, (d_model, d_model)) for _ in range(4)
        )
        self.window = window

    def new_cache(self, batch):
        return SlidingWindowKVCache(batch, self.h, self.d, self.window, dtype=np.float64)

    def _split(self, x):
        b, s, _ = x.shape
        return x.reshape(b, s, self.h, self.d).transpose(0, 2, 1, 3)

    def step(self, x, cache):
        """x (B, 1, d_model) -> (B, 1, d_model)."""
        q = self._split(x @ self.wq)
        k, v = cache.update(self._split(x @ self.wk), self._split(x @ self.wv))
        s = q @ k.swapaxes(-1, -2) / np.sqrt(self.d)
        p = np.exp(s - s.max(-1, keepdims=True))
        o = (p / p.sum(-1, keepdims=True)) @ v
        return o.transpose(0, 2, 1, 3).reshape(x.shape) @ self.wo

    def prefill(self, x, cache):
        return np.concatenate([self.step(x[:, t : t + 1], cache) for t in range(x.shape[1])], axis=1)

    def decode(self, x, cache):
        return self.step(x, cache)
