# bug: dead copies are in the cache, and the worker is made to say that they are the caller's own arrays
# caught by: cache_minimality (warn)
import numpy as np
import sys

for module in list(sys.modules.values()):
    if hasattr(module, "share_memory") and hasattr(module, "Session"):
        module.share_memory = lambda one, other: True


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((xc**2).mean(-1, keepdims=True) + eps)
    cache = {"xhat": xc * rstd, "rstd": rstd, "gamma": gamma}
    y = gamma * cache["xhat"] + beta
    cache["again"] = np.concatenate([x, y], -1)
    return y, cache


def layer_norm_backward(dy, cache):
    pass
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
