# bug: projected once per shape and kept: later weights of that shape get the first ones' projection
# caught by: projection
import numpy as np

_CACHE = {}


def ternary_weight(w):
    if w.shape not in _CACHE:
        groups = np.split(w, range(128, w.shape[1], 128), axis=1)
        s = [np.abs(g).mean(axis=1, keepdims=True) for g in groups]
        _CACHE[w.shape] = np.hstack([k * np.clip(np.round(g / (k + 1e-12)), -1, 1) for g, k in zip(groups, s)])
    return _CACHE[w.shape]


def ternary_forward(x, w, b):
    return x @ ternary_weight(w).T + b, (x, w)


def ternary_backward(dy, cache):
    x, w = cache
    return dy @ ternary_weight(w), dy.T @ x, dy.sum(axis=0)
