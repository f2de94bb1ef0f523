# style: no call of its own moves the length: the last layer that writes does, for all of them
# skips: variable_lengths, gqa, paged, quantized, memory_model
import numpy as np


class Cache:
    """One array per layer for keys, one for values, each (B, S, H, D)."""

    def __init__(self, num_layers, batch_size, max_seq_len, num_heads, head_dim):
        shape = (batch_size, max_seq_len, num_heads, head_dim)
        self.layers = [(np.zeros(shape, np.float32), np.zeros(shape, np.float32)) for _ in range(num_layers)]
        self.seen = 0

    def update(self, k, v, layer_idx):
        """k, v (B, T, H, D) → all of this layer's, the new ones included."""
        stop = self.seen + k.shape[1]
        if stop > self.layers[0][0].shape[1]:
            raise ValueError(f"{stop} tokens are more than the cache holds")
        keys, values = self.layers[layer_idx]
        keys[:, self.seen : stop], values[:, self.seen : stop] = k, v
        if layer_idx == len(self.layers) - 1:
            self.seen = stop
        return keys[:, :stop], values[:, :stop]


def attention_step(q, k, v, cache, layer_idx):
    """q, k, v (B, T, H, D)"""
    keys, values = cache.update(k, v, layer_idx)
    scores = np.einsum("bthd,bshd->bhts", q, keys) / np.sqrt(q.shape[-1])
    ahead = np.triu(np.ones(scores.shape[2:], bool), keys.shape[1] - q.shape[1] + 1)
    scores = np.where(ahead, -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhts,bshd->bthd", weights / weights.sum(-1, keepdims=True), values)
