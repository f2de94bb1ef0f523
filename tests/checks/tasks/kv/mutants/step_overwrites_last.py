# bug: the first step after a prompt lands in the prompt's last slot
# caught by: incremental_equals_full
import numpy as np


class Cache:
    def __init__(self, batch, heads, max_len, dim):
        self.keys = np.zeros((batch, heads, max_len, dim), dtype=np.float32)
        self.values = np.zeros((batch, heads, max_len, dim), dtype=np.float32)
        self.pos = 0

    def prefill(self, k, v):
        n = k.shape[2]
        self.keys[:, :, :n], self.values[:, :, :n] = k, v
        self.pos = max(n - 1, 0)

    def append(self, k, v):
        self.keys[:, :, self.pos], self.values[:, :, self.pos] = k[:, :, 0], v[:, :, 0]
        self.pos += 1

    def attend(self, q):
        n = self.pos
        s = np.einsum("bhqd,bhkd->bhqk", q, self.keys[:, :, :max(n, 1)]) / q.shape[-1] ** .5
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhqk,bhkd->bhqd", p / p.sum(-1, keepdims=True), self.values[:, :, :max(n, 1)])
