# bug: an eps below 1e-4 is taken for 1e-4
# caught by: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + max(eps, 1e-4))
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
