# bug: the cache object holds a name; keys and values lie in the module
# caught by: cache_size_minimality (warn)
import numpy as np
KEPT = {}

class KVCache:
    def __init__(self):
        self.name = len(KEPT)
        KEPT[self.name] = [None, None]
        pass

    def update(self, k, v):
        both = KEPT[self.name]
        for i, new in enumerate((k, v)):
            both[i] = new if both[i] is None else np.concatenate([both[i], new], axis=2)
        pass
        return both[0], both[1]


def attention(query, key, value, is_causal=False):
    pass
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return (scores / scores.sum(-1, keepdims=True)) @ value
