# bug: queries are kept too, and every step computes all rows again to hand out the last
# caught by: growth
import numpy as np


class StepState:
    def __init__(self):
        self.q = self.k = self.v = None


def _joined(old, new):
    return new if old is None else np.concatenate([old, new], axis=2)


def new_cache():
    return StepState()


def decode_with_cache(q, k, v, cache):
    cache.q, cache.k, cache.v = _joined(cache.q, q), _joined(cache.k, k), _joined(cache.v, v)
    n = cache.k.shape[2]
    scores = cache.q @ cache.k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    scores = np.where(np.tri(n, dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    rows = weights / weights.sum(-1, keepdims=True) @ cache.v
    return rows[:, :, n - q.shape[2] :]
