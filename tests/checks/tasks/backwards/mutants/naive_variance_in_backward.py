# bug: the forward is sound; the backward computes the variance again, as E[x²] − E[x]²
# caught by: cancellation
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    return gamma * c / np.sqrt((c * c).mean(-1, keepdims=True) + eps) + beta, (x, gamma, eps)


def layer_norm_backward(dy, cache):
    x, gamma, eps = cache
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(np.abs((x * x).mean(-1, keepdims=True) - mean * mean) + eps)
    xhat = (x - mean) * rstd
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
