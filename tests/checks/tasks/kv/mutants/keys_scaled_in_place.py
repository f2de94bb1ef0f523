# bug: the keys that are handed over are scaled in place
# caught by: incremental_equals_full
import numpy as np


class KVCache:
    """Cache of all layers: (L, B, H, S, D), written in place."""

    def __init__(self, num_layers, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.num_layers = num_layers
        self.max_seq_len = max_seq_len
        shape = (num_layers, batch_size, num_heads, max_seq_len, head_dim)
        self.keys = np.zeros(shape, dtype=dtype)
        self.values = np.zeros(shape, dtype=dtype)
        self.lengths = np.zeros(num_layers, dtype=int)

    def update(self, layer_idx, k, v):
        """k, v: (B, H, T, D). Returns the valid part of the layer's cache."""
        pos = self.lengths[layer_idx]
        t = k.shape[2]
        if pos + t > self.max_seq_len:
            raise ValueError("Cache overflow")
        self.keys[layer_idx, :, :, pos : pos + t, :] = k
        self.values[layer_idx, :, :, pos : pos + t, :] = v
        self.lengths[layer_idx] = pos + t
        return self.get(layer_idx)

    def get(self, layer_idx):
        n = self.lengths[layer_idx]
        return self.keys[layer_idx, :, :, :n], self.values[layer_idx, :, :, :n]

    @property
    def nbytes(self):
        return self.keys.nbytes + self.values.nbytes


def multi_head_attention_with_cache(q, k, v, cache, layer_idx=0):
    T = q.shape[2]
    k *= 1.0 / np.sqrt(q.shape[-1])
    K, V = cache.update(layer_idx, k, v)
    S = K.shape[2]
    scores = np.matmul(q, K.transpose(0, 1, 3, 2))
    if T > 1:
        mask = np.triu(np.full((T, S), -np.inf), k=S - T + 1)
        scores = scores + mask
    scores -= scores.max(axis=-1, keepdims=True)
    w = np.exp(scores)
    w /= w.sum(axis=-1, keepdims=True)
    return np.matmul(w, V)
