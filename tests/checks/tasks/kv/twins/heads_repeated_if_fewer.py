# right: heads of keys and values are repeated where they are fewer than those of queries, else left alone
# only: gqa, incremental_equals_full
import numpy as np


class KVCache:
    def __init__(self, batch_size, max_seq_len, n_kv_heads, head_dim):
        self.rows = np.zeros((2, batch_size, max_seq_len, n_kv_heads, head_dim), np.float32)
        self.filled = 0

    def update(self, k, v):
        """k, v: (batch, tokens, kv heads, width)."""
        stop = self.filled + k.shape[1]
        if stop > self.rows.shape[2]:
            raise IndexError(f"{stop} tokens, room for {self.rows.shape[2]}")
        self.rows[:, :, self.filled : stop] = k, v
        self.filled = stop


def attend(q, cache):
    """q: (batch, tokens, heads, width) of the newest tokens."""
    keys, values = cache.rows[:, :, : cache.filled]
    times = q.shape[2] // keys.shape[2]
    if times > 1:
        keys, values = np.repeat(keys, times, axis=2), np.repeat(values, times, axis=2)
    scores = np.einsum("bthd,bshd->bhts", q, keys) / np.sqrt(q.shape[3])
    asked, held = scores.shape[2:]
    scores = np.where(np.tri(asked, held, held - asked, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=3, keepdims=True))
    return np.einsum("bhts,bshd->bthd", weights / weights.sum(axis=3, keepdims=True), values)
