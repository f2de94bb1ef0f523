# right: one sequence at a time, with a batch axis of length one
import numpy as np


class KVCache:
    def __init__(self, num_layers, batch_size, max_seq_len, num_heads, head_dim, dtype=np.float32):
        self.kv = np.zeros((num_layers, batch_size, 2, max_seq_len, num_heads, head_dim), dtype)
        self.count = np.zeros((num_layers, batch_size), int)

    def update(self, layer_idx, batch_idx, k, v):
        """(1, tokens, heads, width)"""
        start = self.count[layer_idx, batch_idx]
        stop = start + k.shape[1]
        if stop > self.kv.shape[3]:
            raise ValueError(f"{stop} tokens, room for {self.kv.shape[3]}")
        self.kv[layer_idx, batch_idx, 0, start:stop] = k[0]
        self.kv[layer_idx, batch_idx, 1, start:stop] = v[0]
        self.count[layer_idx, batch_idx] = stop

    def get(self, layer_idx, batch_idx):
        both = self.kv[layer_idx, batch_idx, :, None, : self.count[layer_idx, batch_idx]]
        return both[0], both[1]


def attention(q, cache, layer_idx, batch_idx):
    k, v = cache.get(layer_idx, batch_idx)
    s = np.einsum("bthd,bshd->bhts", q, k) * q.shape[3] ** -0.5
    new, held = s.shape[2:]
    s = np.where(np.tri(new, held, held - new, dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(3, keepdims=True))
    return np.einsum("bhts,bshd->bthd", p / p.sum(3, keepdims=True), v)
