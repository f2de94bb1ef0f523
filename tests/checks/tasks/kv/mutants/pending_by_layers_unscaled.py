# bug: attention over pending tokens leaves the scores as they are, without 1/√D
# caught by: incremental_equals_full
import numpy as np


class PendingCache:
    """Tokens are pending from write() until commit()."""

    def __init__(self, num_layers, batch_size, num_heads, max_seq_len, head_dim):
        shape = (num_layers, 2, batch_size, num_heads, max_seq_len, head_dim)
        self.buffer = np.zeros(shape, np.float32)
        self.length = 0

    def write(self, layer, k, v):
        """k, v: (B, H, T, D)"""
        until = self.length + k.shape[2]
        if until > self.buffer.shape[4]:
            raise ValueError("no room")
        self.buffer[layer, 0, :, :, self.length : until] = k
        self.buffer[layer, 1, :, :, self.length : until] = v

    def commit(self, n_tokens):
        self.length += n_tokens


def attention_with_cache(q, cache, layer):
    until = cache.length + q.shape[2]
    k, v = cache.buffer[layer, :, :, :, :until]
    scores = q @ np.swapaxes(k, 2, 3)
    own = np.arange(cache.length, until)[:, None]
    scores = np.where(np.arange(until) <= own, scores, -np.inf)
    p = np.exp(scores - scores.max(axis=3, keepdims=True))
    return p @ v / p.sum(axis=3, keepdims=True)
