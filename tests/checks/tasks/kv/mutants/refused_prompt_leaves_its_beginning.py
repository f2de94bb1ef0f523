# bug: a prompt that does not fit is stored as far as it does, and refused then
# caught by: capacity (warn)
# only: capacity, incremental_equals_full
import numpy as np


class KVCache:
    """Rows of one sequence, in arrays that are made once."""

    def __init__(self, max_len, heads, head_dim):
        self.k = np.zeros((max_len, heads, head_dim), np.float32)
        self.v = np.zeros((max_len, heads, head_dim), np.float32)
        self.filled = 0

    def append(self, k, v):
        """A token, (heads, head_dim)."""
        if self.filled == len(self.k):
            raise RuntimeError("the cache is full")
        self.k[self.filled], self.v[self.filled] = k, v
        self.filled += 1

    def append_many(self, k, v):
        """Several, (tokens, heads, head_dim)."""
        for pair in zip(k, v, strict=True):
            self.append(*pair)

    def read(self):
        return self.k[: self.filled], self.v[: self.filled]


def attend(q, cache):
    """The newest query, (heads, head_dim)."""
    k, v = cache.read()
    s = np.einsum("hd,nhd->hn", q, k) / q.shape[-1] ** 0.5
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hn,nhd->hd", p / p.sum(-1, keepdims=True), v)
