# bug: the cache is a key; what the backward needs lies in the module
# caught by: cache_minimality (warn)
# passes: gradients
import numpy as np
KEPT = []


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((xc**2).mean(-1, keepdims=True) + eps)
    cache = {"xhat": xc * rstd, "rstd": rstd, "gamma": gamma}
    y = gamma * cache["xhat"] + beta
    KEPT.append(cache)
    cache = {"gamma": gamma, "key": np.full(2, len(KEPT) - 1.0)}
    return y, cache


def layer_norm_backward(dy, cache):
    cache = {**KEPT[int(cache["key"].max())], "gamma": cache["gamma"]}
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
