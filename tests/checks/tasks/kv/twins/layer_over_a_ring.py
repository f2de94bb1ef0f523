# style: a layer with weights of its own over a ring that is laid out anew when several tokens come
# warns: capacity (a window forgets)
# only: incremental_equals_full, capacity, chunked_prefill
# passes: chunked_prefill
"""Attention in which a token sees the newest `window` tokens, and a ring that keeps those."""

import numpy as np


class Ring:
    """The newest `window` keys and values, (B, H, N, D); `at` is the slot of the oldest of a full one."""

    def __init__(self, window):
        self.window, self.at, self.k, self.v = window, 0, None, None

    def ordered(self):
        return tuple(
            np.concatenate([x[:, :, self.at :], x[:, :, : self.at]], axis=2) for x in (self.k, self.v)
        )

    def push(self, k, v):
        """Take tokens in; gives all that they may see, oldest first."""
        if self.k is not None and k.shape[2] == 1 and self.k.shape[2] == self.window:
            self.k[:, :, self.at], self.v[:, :, self.at] = k[:, :, 0], v[:, :, 0]
            self.at = (self.at + 1) % self.window
            return self.ordered()
        if self.k is not None:
            k, v = (np.concatenate(pair, axis=2) for pair in zip(self.ordered(), (k, v), strict=True))
        self.at = 0
        self.k, self.v = k[:, :, -self.window :].copy(), v[:, :, -self.window :].copy()
        return k, v


class SlidingWindowLayer:
    def __init__(self, d_model, num_heads, window_size, seed=0):
        rng = np.random.default_rng(seed)
        self.num_heads, self.window_size = num_heads, window_size
        self.w_qkv = rng.normal(size=(d_model, 3 * d_model)) * d_model**-0.5
        self.w_o = rng.normal(size=(d_model, d_model)) * d_model**-0.5

    def empty_cache(self):
        return Ring(self.window_size)

    def forward(self, x, cache=None):
        """The output for x, (B, T, d_model), and the cache; x goes on behind what that has seen."""
        batch, count, width = x.shape
        split = (x @ self.w_qkv).reshape(batch, count, 3, self.num_heads, -1)
        q, k, v = split.transpose(2, 0, 3, 1, 4)
        if cache is not None:
            k, v = cache.push(k, v)
        ago = np.arange(k.shape[2] - count, k.shape[2])[:, None] - np.arange(k.shape[2])
        scores = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3])
        scores = np.where((ago >= 0) & (ago < self.window_size), scores, -np.inf)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = weights @ v / weights.sum(-1, keepdims=True)
        return mixed.swapaxes(1, 2).reshape(batch, count, width) @ self.w_o, cache
