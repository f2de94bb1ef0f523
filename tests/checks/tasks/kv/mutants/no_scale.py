# bug: scores are not divided by the root of the head size
# caught by: incremental_equals_full, variable_lengths
import numpy as np


def make_cache():
    return {}


def cached_step(q, k, v, cache, seq_id):
    """q, k, v: (heads, 1, width) of one sequence"""
    old = cache.get(seq_id)
    if old is not None:
        k, v = np.concatenate([old[0], k], 1), np.concatenate([old[1], v], 1)
    cache[seq_id] = (k, v)
    s = np.einsum("hqd,hkd->hqk", q, k)
    w = np.exp(s - s.max(-1)[..., None])
    return np.einsum("hqk,hkd->hqd", w / w.sum(-1)[..., None], v)
