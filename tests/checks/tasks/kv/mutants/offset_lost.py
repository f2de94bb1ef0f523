# bug: several tokens onto a filled cache are masked as if it were empty
# caught by: incremental_equals_full
import numpy as np


class CausalCache:
    def __init__(self, batch_size, n_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, n_heads, max_len, head_dim), np.float32)
        self.v = self.k.copy()
        self.n = 0

    def attend(self, q, k, v):
        T = q.shape[2]
        self.k[:, :, self.n:self.n + T], self.v[:, :, self.n:self.n + T] = k, v
        self.n += T
        s = q @ self.k[:, :, :self.n].transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
        if T > 1:
            s = np.where(np.tril(np.ones((T, self.n), bool)), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True)) @ self.v[:, :, :self.n]
