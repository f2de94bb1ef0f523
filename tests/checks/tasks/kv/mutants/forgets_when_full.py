# bug: a full cache starts again from nothing
# caught by: capacity
import numpy as np


class SlotCache:
    def __init__(self, max_len):
        self.max_len, self.tokens = max_len, []

    def step(self, q, k, v):
        if len(self.tokens) == self.max_len:
            self.tokens.clear()
        self.tokens.append((k, v))
        K = np.concatenate([k for k, _ in self.tokens], axis=2)
        V = np.concatenate([v for _, v in self.tokens], axis=2)
        s = np.matmul(q, np.swapaxes(K, 2, 3)) / np.sqrt(q.shape[3])
        p = np.exp(s - s.max(3, keepdims=True))
        return np.matmul(p, V) / p.sum(3, keepdims=True)
