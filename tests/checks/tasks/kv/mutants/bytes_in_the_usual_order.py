# bug: keys and values are taken by the strides that contiguous ones would have
# caught by: incremental_equals_full
import numpy as np
from numpy.lib.stride_tricks import as_strided


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.v, self.length = np.zeros_like(self.k), 0

    def update(self, k, v):
        """k, v: (B, H, T, D) of the newest tokens."""
        end = self.length + k.shape[2]
        if end > self.k.shape[2]:
            raise ValueError("the cache is full")
        for store, new in ((self.k, k), (self.v, v)):
            b, h, t, d = new.shape
            size = new.itemsize
            store[:, :, self.length : end] = as_strided(new, new.shape, (h * t * d * size, t * d * size, d * size, size))
        self.length = end
        return self.k[:, :, :end], self.v[:, :, :end]


def attention(q, cache, k, v):
    keys, values = cache.update(k, v)
    scores = q @ keys.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    at = keys.shape[2] - q.shape[2] + np.arange(q.shape[2])
    scores = np.where(np.arange(keys.shape[2]) <= at[:, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values
