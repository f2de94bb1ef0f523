# style: a ring that keeps the newest tokens; by its name it forgets the oldest
# warns: capacity
# skips: variable_lengths (no call takes lengths), chunked_prefill, gqa, paged, quantized, memory_model, purity
"""Sliding-window attention with a ring buffer: memory stays constant however long the text is."""

import numpy as np


class RingKVCache:
    """Holds the last ``window`` tokens of every sequence of a batch, (B, H, window, D)."""

    def __init__(self, batch, heads, window, dim, dtype=np.float32):
        self.window = window
        self.k = np.zeros((batch, heads, window, dim), dtype=dtype)
        self.v = np.zeros((batch, heads, window, dim), dtype=dtype)
        self.seen = 0

    def push(self, k, v):
        """Store one token; k, v (B, H, D)."""
        slot = self.seen % self.window
        self.k[:, :, slot] = k
        self.v[:, :, slot] = v
        self.seen += 1

    def contents(self):
        """K and V in order of age, oldest first, each (B, H, min(seen, window), D)."""
        if self.seen < self.window:
            return self.k[:, :, : self.seen], self.v[:, :, : self.seen]
        head = self.seen % self.window
        order = [(head + i) % self.window for i in range(self.window)]
        return self.k[:, :, order], self.v[:, :, order]

    def __len__(self):
        return min(self.seen, self.window)


def ring_attention(q, cache):
    """q (B, H, D) of the newest token; returns (B, H, D)."""
    k, v = cache.contents()
    s = np.einsum("bhd,bhsd->bhs", q, k) / np.sqrt(q.shape[-1])
    s -= s.max(-1, keepdims=True)
    p = np.exp(s)
    p /= p.sum(-1, keepdims=True)
    return np.einsum("bhs,bhsd->bhd", p, v)


def decode_step(q, k, v, cache):
    """Push one token, attend to the window. All (B, H, D)."""
    cache.push(k, v)
    return ring_attention(q, cache)
