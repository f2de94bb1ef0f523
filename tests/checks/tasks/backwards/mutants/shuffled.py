# bug: right numbers in the wrong order
# caught by: gradients, gradient_identities, cancellation, degenerate, gradient_cost, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((xc * xc).mean(axis=-1, keepdims=True) + eps)
    xhat = xc * rstd
    return np.roll(gamma * xhat + beta, 1, -1), (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return np.roll(dx, 1, -1), np.roll((dy * xhat).sum((0, 1)), 1), np.roll(dy.sum((0, 1)), 1)
