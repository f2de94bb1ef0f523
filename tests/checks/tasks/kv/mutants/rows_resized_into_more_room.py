# bug: more room is made by np.resize, which repeats the numbers in memory order: rows land in other heads
# caught by: incremental_equals_full
# only: incremental_equals_full, cache_size_minimality
import numpy as np


class KVCache:
    """Keys and values (B, H, room, D); the room is doubled when it is full."""

    def __init__(self, batch_size, num_heads, head_dim, dtype=np.float32):
        self.keys = np.zeros((batch_size, num_heads, 16, head_dim), dtype)
        self.values = np.zeros_like(self.keys)
        self.length = 0

    def append(self, k, v):
        """Store k, v (B, H, T, D) of T new tokens."""
        end = self.length + k.shape[2]
        while end > self.keys.shape[2]:
            b, h, room, d = self.keys.shape
            self.keys = np.resize(self.keys, (b, h, 2 * room, d))
            self.values = np.resize(self.values, (b, h, 2 * room, d))
        self.keys[:, :, self.length:end] = k
        self.values[:, :, self.length:end] = v
        self.length = end

    def attend(self, q):
        """Causal attention of the newest tokens, q (B, H, T, D), over all that is stored."""
        t, n = q.shape[2], self.length
        scores = q @ self.keys[:, :, :n].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        hidden = np.arange(n)[None, :] > np.arange(n - t, n)[:, None]
        scores = np.where(hidden, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ self.values[:, :, :n]
