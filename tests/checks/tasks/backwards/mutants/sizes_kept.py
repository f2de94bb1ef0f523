# bug: a size that follows from every shape is kept
# warned by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return gamma * c * rstd + beta, (c * rstd, rstd, gamma, x.shape[-1])


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma, D = cache
    g = dy * gamma
    dx = rstd * (g - g.sum(-1, keepdims=True) / D - xhat * (g * xhat).sum(-1, keepdims=True) / D)
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
