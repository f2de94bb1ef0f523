# style: one call stores what all layers have made of a token; attention is asked for layer by layer
# passes: incremental_equals_full, gqa, isolation, cache_size_minimality, capacity
# skips: variable_lengths (one length for the batch)
"""Key/value memory of a whole network: a step is stored for all layers at once."""

import numpy as np


class NetworkKV:
    def __init__(self, num_layers, batch, num_kv_heads, max_len, head_dim, dtype=np.float32):
        self.kv = np.zeros((2, num_layers, batch, num_kv_heads, max_len, head_dim), dtype)
        self.used = 0

    def append(self, k, v):
        """k, v (num_layers, batch, num_kv_heads, n, head_dim)."""
        end = self.used + k.shape[3]
        if end > self.kv.shape[4]:
            raise IndexError(f"{end} tokens, and room for {self.kv.shape[4]}")
        self.kv[0, :, :, :, self.used : end] = k
        self.kv[1, :, :, :, self.used : end] = v
        self.used = end

    def attend(self, q, layer):
        """q (batch, heads, n, head_dim): queries of the newest n tokens."""
        k, v = self.kv[:, layer, :, :, : self.used]
        share = q.shape[1] // k.shape[1]
        k, v = k.repeat(share, 1), v.repeat(share, 1)
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[3]).astype(q.dtype)
        n = q.shape[2]
        s = np.where(np.tri(n, self.used, self.used - n, dtype=bool), s, -np.inf)
        w = np.exp(s - s.max(3, keepdims=True))
        return w / w.sum(3, keepdims=True) @ v
