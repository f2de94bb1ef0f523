# bug: dgamma is added up in an array that no call sets back to zero
# caught by: gradients
# only: gradients, forward_accuracy
import numpy as np


_SUMS = {}


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    total = _SUMS.setdefault(gamma.shape, np.zeros(gamma.shape))
    total += (dy * xhat).sum((0, 1))
    return dx, total.copy(), dy.sum((0, 1))
