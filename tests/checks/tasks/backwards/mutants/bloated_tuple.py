# bug: a copy of x is kept beside x̂; the backward takes its shape only
# caught by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return gamma * c * rstd + beta, (x.copy(), c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    x, xhat, rstd, gamma = cache
    D = x.shape[-1]
    g = dy * gamma
    dx = rstd * (g - g.sum(-1, keepdims=True) / D - xhat * (g * xhat).sum(-1, keepdims=True) / D)
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
