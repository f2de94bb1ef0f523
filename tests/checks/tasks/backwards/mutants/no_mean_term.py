# bug: dx lacks the mean of g
# caught by: gradients, gradient_identities, degenerate, cancellation, gradient_cost
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - np.mean(x, axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(np.mean(xc**2, axis=-1, keepdims=True) + eps)
    xhat = xc * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - xhat * np.mean(g * xhat, axis=-1, keepdims=True))
    return dx, np.sum(dy * xhat, axis=(0, 1)), np.sum(dy, axis=(0, 1))
