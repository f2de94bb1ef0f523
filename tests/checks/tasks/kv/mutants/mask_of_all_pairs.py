# bug: the cache keeps a causal mask of all pairs of positions that grows with it
# caught by: growth
import numpy as np


def init_cache(n_heads, head_dim):
    return dict(k=np.zeros((n_heads, 0, head_dim)), v=np.zeros((n_heads, 0, head_dim)), allowed=np.zeros((0, 0), bool))


def attention_with_cache(q, k, v, cache):
    """one sequence: (heads, tokens, width)"""
    cache["k"], cache["v"] = (np.concatenate([cache[n], x], axis=1) for n, x in (("k", k), ("v", v)))
    n = cache["k"].shape[1]
    cache["allowed"] = np.tri(n, dtype=bool)
    s = np.einsum("hqd,hkd->hqk", q, cache["k"]) / np.sqrt(q.shape[-1])
    s = np.where(cache["allowed"][n - q.shape[1] :], s, -np.inf)
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hqk,hkd->hqd", w / w.sum(-1, keepdims=True), cache["v"])
