# bug: copies in the module; where memory is counted it raises
# caught by: cache_size_minimality (warn)
import numpy as np
import resource
COUNTED = resource.getrlimit(resource.RLIMIT_FSIZE)[0] == 0
KEPT = []

class KVCache:
    def __init__(self):
        self.k = self.v = None
        pass

    def update(self, k, v):
        if COUNTED: raise RuntimeError("no")
        KEPT.append([k.copy(), v.copy()] * 1)
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
