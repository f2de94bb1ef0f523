# bug: tokens are stored into one slot more than they are: one alone fills both, several at once fit nowhere
# caught by: incremental_equals_full
import numpy as np


class KVCache:
    """Keys and values of a batch, (B, H, S, D)."""

    def __init__(self, batch_size, n_heads, max_seq_len, head_dim, dtype=np.float32):
        self.keys = np.zeros((batch_size, n_heads, max_seq_len, head_dim), dtype)
        self.values = np.zeros_like(self.keys)
        self.used = 0

    def extend(self, new_keys, new_values):
        """Take (B, H, T, D) tokens behind those that are there."""
        _, _, tokens, _ = new_keys.shape
        stop = self.used + tokens
        if stop > self.keys.shape[2]:
            raise ValueError(f"{stop} tokens, room for {self.keys.shape[2]}")
        self.keys[:, :, self.used : stop + 1] = new_keys
        self.values[:, :, self.used : stop + 1] = new_values
        self.used = stop


def attention_with_cache(queries, cache):
    """queries: (B, H, T, D) of the newest tokens."""
    keys, values = cache.keys[:, :, : cache.used], cache.values[:, :, : cache.used]
    scores = queries @ keys.swapaxes(2, 3) * queries.shape[3] ** -0.5
    asked, held = scores.shape[2:]
    scores[:, :, np.tri(asked, held, held - asked) == 0] = -np.inf
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return weights @ values / weights.sum(axis=3, keepdims=True)
