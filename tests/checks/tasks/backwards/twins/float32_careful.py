"""Accumulates in float64 whatever it is given, and answers in the dtype of x."""
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    wide = x.astype(np.float64)
    c = wide - wide.mean(-1, keepdims=True)
    r = 1.0 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    xhat = c * r
    return (xhat * gamma + beta).astype(x.dtype), (xhat, r, gamma)


def layer_norm_backward(dy, cache):
    xhat, r, gamma = cache
    g = dy.astype(np.float64) * gamma
    dx = r * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    dgamma, dbeta = (dy * xhat).sum((0, 1)), dy.sum((0, 1), dtype=np.float64)
    return tuple(v.astype(dy.dtype) for v in (dx, dgamma, dbeta))
