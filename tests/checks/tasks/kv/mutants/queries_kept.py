# bug: the queries of the past are stored beside keys and values
# caught by: cache_size_minimality
import numpy as np


def step(q, k, v, cache=None):
    new = {"q": q, "k": k, "v": v}
    if cache is not None:
        new = {name: np.concatenate([cache[name], new[name]], axis=2) for name in new}
    s = q @ new["k"].transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
    T, S = s.shape[-2:]
    s = s + np.triu(np.full((T, S), -np.inf), S - T + 1)
    p = np.exp(s - s.max(-1, keepdims=True))
    return (p / p.sum(-1, keepdims=True)) @ new["v"], new
