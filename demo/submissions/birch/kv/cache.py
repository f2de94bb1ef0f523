"""KV cache: keys and values of a batch in two arrays, filled from the left."""

import numpy as np


class BatchedCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.seq_lens = np.zeros(batch_size, int)

    def update(self, k, v, lengths):
        """Write new tokens (B, H, T, D) behind those of each sequence."""
        if np.any(self.seq_lens + lengths > self.k.shape[2]):
            raise IndexError("no room is left")
        for row, (start, n) in enumerate(zip(self.seq_lens, lengths)):
            self.k[row, :, start : start + n] = k[row, :, :n]
            self.v[row, :, start : start + n] = v[row, :, :n]
        self.seq_lens = self.seq_lens + lengths

    def attention(self, query):
        """One step for the whole batch at once, without a loop."""
        longest = self.seq_lens.max()
        scores = np.einsum("bhqd,bhkd->bhqk", query, self.k[:, :, :longest]) / np.sqrt(query.shape[-1])
        scores -= scores.max(axis=-1, keepdims=True)
        probs = np.exp(scores)
        probs /= probs.sum(axis=-1, keepdims=True)
        return np.einsum("bhqk,bhkd->bhqd", probs, self.v[:, :, :longest])
