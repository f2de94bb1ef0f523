# right: query heads are worked on in tiles that end with their group
# passes: gqa, capacity, isolation, cache_size_minimality, growth
# warns: incremental_equals_full (a prompt fed at once sees its own future)
# skips: paged, quantized, variable_lengths (one length for the batch)
import numpy as np

#: Query heads that are worked on at once.
TILE = 6


class GroupedCache:
    """Keys and values of fewer heads than queries have, (B, KVH, S, D)."""

    def __init__(self, batch, kv_heads, capacity, head_dim):
        self.keys = np.zeros((batch, kv_heads, capacity, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.used = 0

    def append(self, k, v):
        behind = self.used + k.shape[2]
        if behind > self.keys.shape[2]:
            raise ValueError(f"{behind} tokens, room for {self.keys.shape[2]}")
        self.keys[:, :, self.used : behind] = k
        self.values[:, :, self.used : behind] = v
        self.used = behind

    def decode(self, q, k, v):
        """One token: q (B, H, 1, D), k and v (B, KVH, 1, D)."""
        self.append(k, v)
        keys, values = self.keys[:, :, : self.used], self.values[:, :, : self.used]
        group = q.shape[1] // keys.shape[1]
        out = np.empty_like(q)
        for at in range(keys.shape[1]):
            for first in range(at * group, (at + 1) * group, TILE):
                heads = slice(first, min(first + TILE, (at + 1) * group))
                s = q[:, heads] @ keys[:, at : at + 1].swapaxes(2, 3) / np.sqrt(q.shape[3])
                p = np.exp(s - s.max(3, keepdims=True))
                out[:, heads] = p / p.sum(3, keepdims=True) @ values[:, at : at + 1]
        return out
