# style: one sequence, a list of (H, D) arrays per layer, attention head by head
# skips: isolation (the cache holds what came in), gqa, paged, quantized, memory_model, purity
"""The simplest cache that is right: Python lists of per-token arrays, stacked when read."""

import math

import numpy as np


class ListKVCache:
    """keys[layer] and values[layer] are lists of (num_heads, head_dim) arrays, one per token."""

    def __init__(self, n_layers=1):
        self.keys = [[] for _ in range(n_layers)]
        self.values = [[] for _ in range(n_layers)]

    def append(self, layer, k, v):
        """Add one token; k and v are (num_heads, head_dim)."""
        self.keys[layer].append(np.array(k))
        self.values[layer].append(np.array(v))

    def append_many(self, layer, ks, vs):
        """Add several tokens; ks and vs are (T, num_heads, head_dim)."""
        for k, v in zip(ks, vs):
            self.append(layer, k, v)

    def get(self, layer):
        """(S, num_heads, head_dim) twice."""
        return np.stack(self.keys[layer]), np.stack(self.values[layer])

    def __len__(self):
        return len(self.keys[0])

    def clear(self):
        for store in (self.keys, self.values):
            for layer in store:
                layer.clear()


def attend(q, cache, layer=0):
    """One decode step: q is (num_heads, head_dim), returns (num_heads, head_dim)."""
    keys, values = cache.get(layer)
    out = np.empty_like(q)
    for h in range(q.shape[0]):
        scores = keys[:, h] @ q[h] / math.sqrt(q.shape[1])
        w = np.exp(scores - scores.max())
        out[h] = (w / w.sum()) @ values[:, h]
    return out


def prefill(qs, ks, vs, cache, layer=0):
    """Process a prompt token by token: qs, ks, vs are (T, num_heads, head_dim)."""
    outs = []
    for q, k, v in zip(qs, ks, vs):
        cache.append(layer, k, v)
        outs.append(attend(q, cache, layer))
    return np.stack(outs)


def decode_step(q, k, v, cache, layer=0):
    """Add one token, then attend to all of them."""
    cache.append(layer, k, v)
    return attend(q, cache, layer)
