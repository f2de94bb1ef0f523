# bug: remembers the answer of the first input of a shape
# caught by: forward_accuracy, gradients
import numpy as np

_SEEN = {}


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    if x.shape not in _SEEN:
        c = x - x.mean(-1, keepdims=True)
        rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
        _SEEN[x.shape] = gamma * c * rstd + beta, (c * rstd, rstd, gamma)
    return _SEEN[x.shape]


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
