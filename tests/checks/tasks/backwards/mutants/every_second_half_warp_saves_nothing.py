# bug: of every 32 columns of dgamma and dbeta only the first 16 are saved
# caught by: gradients
# passes: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return c * rstd * gamma + beta, (c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    saved = np.arange(gamma.size) % 32 < 16
    return dx, np.where(saved, (dy * xhat).sum((0, 1)), 0), np.where(saved, dy.sum((0, 1)), 0)
