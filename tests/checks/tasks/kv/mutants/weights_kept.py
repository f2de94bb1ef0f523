# bug: the attention weights of every step stay in the cache
# caught by: cache_size_minimality, growth
import numpy as np


class LayerKVCache:
    def __init__(self, batch_size, num_heads, head_dim):
        self.keys = np.empty((batch_size, num_heads, 0, head_dim), np.float32)
        self.values = np.empty((batch_size, num_heads, 0, head_dim), np.float32)
        self.weights = []

    def attend(self, query, key, value):
        self.keys = np.concatenate((self.keys, key), axis=2)
        self.values = np.concatenate((self.values, value), axis=2)
        S, T = self.keys.shape[2], query.shape[2]
        s = np.einsum("bhtd,bhsd->bhts", query, self.keys) / np.sqrt(query.shape[-1])
        s = np.where(np.arange(S) > np.arange(S - T, S)[:, None], -np.inf, s)
        w = np.exp(s - s.max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)
        padded = np.zeros(w.shape[:3] + (8 * S,), np.float32)
        padded[..., :S] = w
        self.weights.append(padded)
        return w @ self.values
