# bug: slots past a length are masked by adding -5
# caught by: variable_lengths, isolation
import numpy as np


class MaskedCache:
    def __init__(self, batch_size, max_len, n_heads, head_dim):
        self.k = np.zeros((batch_size, max_len, n_heads, head_dim), np.float32)
        self.v = np.zeros((batch_size, max_len, n_heads, head_dim), np.float32)
        self.lens = np.zeros(batch_size, np.int64)

    def put(self, k, v, lens):
        for b in range(len(lens)):
            room = min(k.shape[1], self.k.shape[1] - self.lens[b])
            self.k[b, self.lens[b]:self.lens[b] + room] = k[b, :room]
            self.v[b, self.lens[b]:self.lens[b] + room] = v[b, :room]
        if (self.lens + lens > self.k.shape[1]).any():
            raise ValueError("full")
        self.lens = self.lens + lens

    def attend(self, q):
        mask = np.where(np.arange(self.k.shape[1]) < self.lens[:, None], 0.0, -5.0)
        s = np.einsum("bthd,bshd->bhts", q, self.k) / np.sqrt(q.shape[-1]) + mask[:, None, None]
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhts,bshd->bthd", p / p.sum(-1, keepdims=True), self.v)
