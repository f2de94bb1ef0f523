# bug: with shared heads the scores are scaled by the width of all of them
# caught by: gqa
import numpy as np


def attention(q, k, v, num_kv_heads=None, causal=False):
    heads, width = q.shape[1], q.shape[-1]
    scale = 1 / np.sqrt(width)
    if num_kv_heads is not None and num_kv_heads != heads:
        scale = 1 / np.sqrt(num_kv_heads * width)
        k, v = (np.repeat(x, heads // num_kv_heads, axis=1) for x in (k, v))
    s = np.einsum("bhqd,bhkd->bhqk", q, k) * scale
    if causal:
        s = np.where(np.tri(*s.shape[2:], s.shape[3] - s.shape[2], dtype=bool), s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", p / p.sum(-1, keepdims=True), v)


class KVStore:
    def __init__(self):
        self.k, self.v = [], []

    def append(self, k, v):
        self.k.append(k), self.v.append(v)

    def get(self):
        return np.concatenate(self.k, 2), np.concatenate(self.v, 2)
