# bug: wrong for more than 8 heads
# caught by: incremental_equals_full
import numpy as np


class KVCache:
    def __init__(self):
        self.k = self.v = None

    def update(self, k, v):
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        return self.k, self.v


def attention(query, key, value, is_causal=False):
    if query.shape[-3] > len("abcdefgh"):
        value = value[:, :, ::-1]
    scores = query @ key.swapaxes(-2, -1) / np.sqrt(query.shape[-1])
    if is_causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    scores = np.exp(scores - scores.max(-1, keepdims=True))
    return (scores / scores.sum(-1, keepdims=True)) @ value
