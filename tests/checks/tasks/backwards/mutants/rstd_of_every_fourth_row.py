# bug: rows share the rstd of the first of every four
# caught by: forward_accuracy
# only: forward_accuracy, gradients
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    flat = rstd.reshape(-1)
    rstd = flat[np.arange(flat.size) // 4 * 4].reshape(rstd.shape)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
