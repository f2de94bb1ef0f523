# bug: heads come out in reverse order
# caught by: incremental_equals_full
import numpy as np


class ConcatKVCache:
    def __init__(self):
        self.kv = None

    def step(self, q, k, v):
        new = np.stack([k, v])
        self.kv = new if self.kv is None else np.concatenate([self.kv, new], axis=3)
        s = q @ self.kv[0].swapaxes(2, 3) / np.sqrt(q.shape[3])
        p = np.exp(s - s.max(3, keepdims=True))
        return (p / p.sum(3, keepdims=True) @ self.kv[1])[:, ::-1].copy()
