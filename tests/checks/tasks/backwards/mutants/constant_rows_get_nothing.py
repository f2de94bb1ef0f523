# bug: rows without variance get no gradient
# caught by: degenerate
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    var = (c * c).mean(-1, keepdims=True)
    rstd = np.where(var > 0, 1 / np.sqrt(var + eps), 0).astype(x.dtype)
    return gamma * c * rstd + beta, (c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
