# right: one sequence a cache, and a call that puts beams in another order, of which there is one
# only: incremental_equals_full, sharing
# skips: sharing (nothing can be put in another order)
import numpy as np


class KVCache:
    """One sequence."""

    def __init__(self, num_heads, max_len, head_dim):
        self.k = np.zeros((num_heads, max_len, head_dim), np.float32)
        self.v, self.n = np.zeros_like(self.k), 0

    def update(self, k, v):
        n = self.n + k.shape[1]
        self.k[:, self.n:n], self.v[:, self.n:n] = k, v
        self.n = n
        return self.k[:, :n], self.v[:, :n]

    def reorder_cache(self, beam_idx):
        pass


def attention(q, cache, k, v):
    keys, values = cache.update(k, v)
    s = q @ keys.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
    at = keys.shape[1] - q.shape[1] + np.arange(q.shape[1])
    s = np.where(np.arange(keys.shape[1]) <= at[:, None], s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    return w / w.sum(-1, keepdims=True) @ values
