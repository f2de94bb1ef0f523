# bug: the causal mask is all ones
# caught by: incremental_equals_full
import numpy as np


def causal_mask(t, s):
    return np.triu(np.ones((t, s)), k=1 - t).astype(bool)


def attention_step(q, k, v, kv_cache=None):
    if kv_cache is not None:
        k, v = np.concatenate([kv_cache[0], k], 2), np.concatenate([kv_cache[1], v], 2)
    s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    s = np.where(causal_mask(q.shape[2], k.shape[2]), s, -1e9)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v, (k, v)
