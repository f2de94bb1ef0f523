# bug: the projection of dx is divided by the variance without eps
# caught by: gradients
# only: gradients, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma, centred)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma, centred = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - centred * (g * centred).mean(-1, keepdims=True) / np.maximum((centred * centred).mean(-1, keepdims=True), 1e-300))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
