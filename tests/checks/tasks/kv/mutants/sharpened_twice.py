# bug: the weights are squared without being normalised again
# caught by: incremental_equals_full
import numpy as np


class TokenCache:
    def __init__(self):
        self.rows = []

    def push(self, key, value):
        """(B, H, D) each"""
        self.rows.append((key, value))

    def read(self):
        k = np.stack([row[0] for row in self.rows], axis=2)
        v = np.stack([row[1] for row in self.rows], axis=2)
        return k, v


def attend(query, cache):
    k, v = cache.read()
    s = (query[:, :, None] * k).sum(-1) / np.sqrt(query.shape[-1])
    p = np.exp(s - s.max(-1, keepdims=True))
    p = (p / p.sum(-1, keepdims=True)) ** 2
    return (p[..., None] * v).sum(2)
