# style: a cache that is called after blocks, in which it makes its room, and is told how many tokens it holds
# only: incremental_equals_full, capacity
import numpy as np

BLOCK = 16


class BlockedKVCache:
    def __init__(self, num_layers, num_heads, head_dim, max_length):
        blocks = -(-max_length // BLOCK)
        self.kv = np.zeros((2, num_layers, blocks * BLOCK, num_heads, head_dim))
        self.count, self.most = 0, max_length

    def append(self, k, v):
        """One token of all layers, (layers, heads, width)."""
        if self.count == self.most:
            raise RuntimeError(f"it holds {self.most} tokens")
        self.kv[:, :, self.count] = k, v
        self.count += 1

    def get(self, layer):
        return tuple(self.kv[:, layer, : self.count])


def decode_attention(q, cache, layer):
    k, v = cache.get(layer)
    scores = np.einsum("hd,thd->ht", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("ht,thd->hd", p / p.sum(-1, keepdims=True), v)
