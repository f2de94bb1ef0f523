# bug: the gradients of neighbouring rows are exchanged
# caught by: gradients, gradient_identities, cancellation, gradient_cost
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((xc * xc).mean(axis=-1, keepdims=True) + eps)
    xhat = xc * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx[:, ::-1], (dy * xhat).sum((0, 1)), dy.sum((0, 1))
