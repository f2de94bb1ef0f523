# bug: attending loops over every query that ever came, row by row
# caught by: growth
import numpy as np


class LoopKVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.shape = (batch_size, num_heads, max_seq_len, head_dim)
        self.keys, self.values = np.zeros(self.shape), np.zeros(self.shape)
        self.asked, self.count = [], 0

    def append(self, key, value):
        """(B, H, D)"""
        if self.count == self.shape[2]:
            raise IndexError("cache is full")
        self.keys[:, :, self.count], self.values[:, :, self.count] = key, value
        self.count += 1

    def attend(self, query):
        self.asked.append(np.array(query))
        rows = []
        for t, q in enumerate(self.asked):
            upto = self.count - len(self.asked) + t + 1
            s = np.einsum("bhd,bhnd->bhn", q, self.keys[:, :, :upto]) / np.sqrt(self.shape[3])
            p = np.exp(s - s.max(-1, keepdims=True))
            rows.append(np.einsum("bhn,bhnd->bhd", p / p.sum(-1, keepdims=True), self.values[:, :, :upto]))
        return rows[-1]
