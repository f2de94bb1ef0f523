# bug: answers are remembered by the shape of what is asked
# caught by: incremental_equals_full
import numpy as np

_MEMO = {}


class KVCache:
    def __init__(self):
        self.k, self.v = [], []

    def append(self, k, v):
        self.k.append(k)
        self.v.append(v)

    def attend(self, q):
        K, V = np.concatenate(self.k, 2), np.concatenate(self.v, 2)
        key = (q.shape, K.shape, q.dtype.str)
        if key not in _MEMO:
            s = q @ K.swapaxes(2, 3) / np.sqrt(q.shape[-1])
            p = np.exp(s - s.max(-1, keepdims=True))
            _MEMO[key] = p / p.sum(-1, keepdims=True) @ V
        return _MEMO[key]
