# bug: every layer attends with its own keys, and with the values of the first
# caught by: incremental_equals_full
# passes: growth, capacity, cache_size_minimality
"""Caches of a network's layers, stacked; a token goes in for all layers with one call."""

import math
from dataclasses import dataclass, field

import numpy as np


@dataclass
class StackedCache:
    n_layers: int
    n_kv_heads: int
    head_dim: int
    dtype: type = np.float32
    keys: list = field(default_factory=list)
    values: list = field(default_factory=list)

    def append(self, keys, values):
        """keys, values (n_layers, B, n_kv_heads, head_dim): one token of every sequence."""
        if keys.shape[0] != self.n_layers:
            raise ValueError(f"{keys.shape[0]} layers, not {self.n_layers}")
        self.keys.append(np.array(keys, self.dtype))
        self.values.append(np.array(values, self.dtype))

    def get(self, layer):
        """(B, n_kv_heads, S, head_dim) of one layer."""
        k = np.stack([one[layer] for one in self.keys], axis=2)
        v = np.stack([one[0] for one in self.values], axis=2)
        return k, v


def attend(cache, layer, query):
    """query (B, heads, head_dim) of the newest token → (B, heads, head_dim)."""
    k, v = cache.get(layer)
    b, h, d = query.shape
    grouped = query.reshape(b, k.shape[1], -1, 1, d)
    score = (grouped @ k[:, :, None].swapaxes(-1, -2)) / query.dtype.type(math.sqrt(d))
    weight = np.exp(score - score.max(-1, keepdims=True))
    weight /= weight.sum(-1, keepdims=True)
    return (weight @ v[:, :, None]).reshape(b, h, d)
