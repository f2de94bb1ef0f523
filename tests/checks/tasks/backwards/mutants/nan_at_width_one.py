# bug: the variance is taken over D − 1 and scaled back: 0/0 at D = 1
# caught by: degenerate
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    D = x.shape[-1]
    c = x - x.mean(-1, keepdims=True)
    var = np.sum(c * c, -1, keepdims=True) / np.float64(D - 1) * ((D - 1) / D)
    rstd = (1 / np.sqrt(var + eps)).astype(x.dtype)
    return gamma * c * rstd + beta, (c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
