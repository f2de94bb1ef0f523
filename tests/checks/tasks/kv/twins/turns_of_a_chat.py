# style: a prefill of its own that goes on behind what is there, as the next turn of a chat wants it
# only: chunked_prefill, incremental_equals_full, capacity
# passes: chunked_prefill
"""Turns of a chat: every prompt goes behind all that was said before."""

import numpy as np


class ChatCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.keys = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.values = np.zeros_like(self.keys)
        self.said = 0

    def put(self, k, v):
        end = self.said + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"the chat is {end} tokens long, and {self.keys.shape[2]} fit")
        self.keys[:, :, self.said : end], self.values[:, :, self.said : end] = k, v
        self.said = end


class ChatAttention:
    def __init__(self, cache):
        self.cache = cache

    def prefill(self, q, k, v):
        """A turn, (B, H, T, D) each: its tokens see all turns before, and each other causally."""
        self.cache.put(k, v)
        ends = np.arange(self.cache.said - k.shape[2], self.cache.said) + 1
        return np.concatenate([self._one(q[:, :, i : i + 1], end) for i, end in enumerate(ends)], axis=2)

    def decode(self, q, k, v):
        """One token of an answer, (B, H, 1, D) each."""
        self.cache.put(k, v)
        return self._one(q, self.cache.said)

    def _one(self, q, end):
        scores = q @ self.cache.keys[:, :, :end].swapaxes(2, 3) * q.shape[-1] ** -0.5
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights @ self.cache.values[:, :, :end] / weights.sum(-1, keepdims=True)
