# style: attention over what a cache of codes gives back, and over a pair that it does not store: its caller does
# only: quantized, incremental_equals_full, isolation
# skips: incremental_equals_full (codes give nothing back exactly), isolation (as before)
import numpy as np


class Int8KVCache:
    """(batch, tokens, heads, width) as bytes about 128, with a scale for every token and head."""

    def __init__(self, num_heads, head_dim):
        self.num_heads, self.head_dim = num_heads, head_dim
        self.parts = {"k": [], "v": []}

    def append(self, keys, values):
        for name, x in (("k", keys), ("v", values)):
            scale = np.abs(x).max(axis=-1, keepdims=True).astype(np.float32) / 127 + np.float32(1e-12)
            self.parts[name].append((np.rint(x / scale + 128).astype(np.uint8), scale))

    def get(self):
        return tuple(
            np.concatenate([(code.astype(np.float32) - 128) * scale for code, scale in kept], axis=1)
            for kept in self.parts.values()
        )


def attention(q, k, v):
    scores = np.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1])
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(-1, keepdims=True), v)


def attend_step(cache, q, k, v):
    """Of the newest token, whose keys and values are not in the cache yet; nothing goes in."""
    held = cache.get() if cache.parts["k"] else (k[:, :0], v[:, :0])
    return attention(q, *(np.concatenate([old, new], axis=1) for old, new in zip(held, (k, v))))
