# bug: the query is scaled by 1/√D in float16
# caught by: incremental_equals_full
import numpy as np


class KVCache:
    """Keys and values of a batch, (B, H, S, D)."""

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.keys = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.length = 0

    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.keys.shape[2]:
            raise ValueError(f"the cache holds {self.keys.shape[2]} tokens")
        self.keys[:, :, self.length : end] = k
        self.values[:, :, self.length : end] = v
        self.length = end


def cached_attention(q, cache):
    """q (B, H, 1, D): attention over all that the cache holds."""
    keys, values = cache.keys[:, :, : cache.length], cache.values[:, :, : cache.length]
    q = (q * q.shape[-1] ** -0.5).astype(np.float16).astype(np.float32)
    scores = q @ keys.swapaxes(-1, -2)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ values
