# right: each call stores a single token, into the one slot that is next; several at once are not offered
# only: incremental_equals_full, capacity
import numpy as np


class KVCache:
    """Keys and values of a batch, (B, H, S, D)."""

    def __init__(self, batch_size, n_heads, max_seq_len, head_dim, dtype=np.float32):
        self.keys = np.zeros((batch_size, n_heads, max_seq_len, head_dim), dtype)
        self.values = np.zeros_like(self.keys)
        self.used = 0

    def append(self, key, value):
        """Take the (B, H, 1, D) keys and values of one token."""
        batch, heads, _, width = key.shape
        if self.used == self.keys.shape[2]:
            raise ValueError(f"no room for more than {self.used} tokens")
        self.keys[:batch, :heads, self.used : self.used + 1, :width] = key
        self.values[:batch, :heads, self.used : self.used + 1, :width] = value
        self.used += 1


def attention_with_cache(query, cache):
    """query: (B, H, 1, D) of the newest token."""
    keys, values = cache.keys[:, :, : cache.used], cache.values[:, :, : cache.used]
    scores = query @ keys.swapaxes(2, 3) * query.shape[3] ** -0.5
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return weights @ values / weights.sum(axis=3, keepdims=True)
