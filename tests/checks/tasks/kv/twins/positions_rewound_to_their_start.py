# style: a table of places is rewound, which takes nothing back of a cache
# only: sharing, incremental_equals_full
# skips: sharing (nothing takes tokens back)
import numpy as np


class Places:
    def __init__(self):
        self.next = 0

    def take(self):
        self.next += 1
        return self.next - 1

    def rewind(self):
        self.next = 0


class KVCache:
    def __init__(self, batch, heads, max_len, head_dim):
        self.kv, self.places = np.zeros((2, batch, heads, max_len, head_dim)), Places()

    def append(self, k, v):
        """One token of every sequence, (batch, heads, head_dim)."""
        self.kv[:, :, :, self.places.take()] = k, v

    def attend(self, q):
        k, v = self.kv[:, :, :, : self.places.next]
        scores = np.einsum("bhd,bhtd->bht", q, k) / np.sqrt(q.shape[-1])
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bht,bhtd->bhd", p / p.sum(-1, keepdims=True), v)
