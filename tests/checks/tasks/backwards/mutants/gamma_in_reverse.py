# bug: g takes gamma in reverse order
# caught by: gradients
# only: gradients, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma[::-1]
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
