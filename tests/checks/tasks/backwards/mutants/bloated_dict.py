# bug: x − mean, mean and var are kept and never read
# caught by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    centered = x - mean
    var = (centered**2).mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    cache = {"centered": centered, "mean": mean, "var": var, "rstd": rstd, "xhat": centered * rstd}
    cache["gamma"] = gamma
    return gamma * cache["xhat"] + beta, cache


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
