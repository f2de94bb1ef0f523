# right: the number of groups is told at every call; the cache is told its heads as kv_heads
# passes: gqa
# skips: variable_lengths (takes no lengths)
import numpy as np


def grouped_attention(query, key, value, *, groups, causal=False):
    b, h, t, d = query.shape
    reads = np.arange(h) * groups // h
    keys, values = key[:, reads], value[:, reads]
    scores = np.einsum("bhtd,bhsd->bhts", query, keys) / d**0.5
    if causal:
        scores = np.where(np.tri(t, key.shape[2], key.shape[2] - t, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("bhts,bhsd->bhtd", weights / weights.sum(axis=-1, keepdims=True), values)


class GroupedKVCache:
    def __init__(self, batch, kv_heads, max_len, head_dim, dtype=np.float32):
        self.buffer = np.zeros((2, batch, kv_heads, max_len, head_dim), dtype)
        self.n = 0

    def step(self, query, key, value):
        stop = self.n + key.shape[2]
        if stop > self.buffer.shape[3]:
            raise ValueError(f"holds {self.buffer.shape[3]} tokens")
        self.buffer[0, :, :, self.n : stop], self.buffer[1, :, :, self.n : stop] = key, value
        self.n = stop
        k, v = self.buffer[:, :, :, :stop]
        return grouped_attention(query, k, v, groups=k.shape[1], causal=True)
