# style: what it learnt of past calls is kept in the module, and a table is made at import
# only: cache_size_minimality
import numpy as np
TABLE = np.arange(65536.0)
CALLS = []

class KVCache:
    def __init__(self):
        self.k = self.v = None
        pass

    def update(self, k, v):
        CALLS.append(k.shape)
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        pass
        return self.k, self.v


def attention(query, key, value, is_causal=False):
    pass
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return (scores / scores.sum(-1, keepdims=True)) @ value
