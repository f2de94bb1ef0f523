# bug: new values are put before the old ones, new keys behind them
# caught by: incremental_equals_full
import numpy as np


class GrowingKVCache:
    def __init__(self):
        self.K = self.V = None

    def update(self, k, v):
        self.K = k if self.K is None else np.append(self.K, k, axis=2)
        self.V = v if self.V is None else np.append(v, self.V, axis=2)
        return self.K, self.V


def attention(q, k, v):
    s = q @ k.transpose(0, 1, 3, 2) * q.shape[3] ** -0.5
    e = np.exp(s - s.max(3, keepdims=True))
    return e @ v / e.sum(3, keepdims=True)
