# bug: the caller's x and beta are kept for nothing, at no cost
# warned by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return gamma * c * rstd + beta, {"x": x, "xhat": c * rstd, "rstd": rstd, "gamma": gamma, "beta": beta}


def layer_norm_backward(dy, cache):
    g = dy * cache["gamma"]
    xhat = cache["xhat"]
    dx = cache["rstd"] * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
