# style: batches of more than 48 rows are written in groups
# skips: variable_lengths (one length for all)
import numpy as np


class Cache:
    def __init__(self, batch, heads, max_len, head_dim, dtype="float32"):
        self.k = np.zeros((batch, heads, max_len, head_dim), dtype)
        self.v, self.filled = np.zeros_like(self.k), 0

    def append(self, k, v, together=48):
        count, end = len(k), self.filled + k.shape[2]
        if end > self.k.shape[2]:
            raise ValueError("the cache is full")
        whole = count
        for row in range(0, whole, together):
            rows = slice(row, min(row + together, whole))
            self.k[rows, :, self.filled : end] = k[rows]
            self.v[rows, :, self.filled : end] = v[rows]
        self.filled = end

    def attention(self, q):
        s = q @ self.k[:, :, : self.filled].swapaxes(-2, -1) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ self.v[:, :, : self.filled]
