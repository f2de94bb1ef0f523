# bug: x and its mean are used for dgamma, x̂ for dx: the one follows from the other
# warned by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return gamma * xhat + beta, (x, mean, xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    x, mean, xhat, rstd, gamma = cache
    dgamma = (dy * (x - mean) * rstd).sum((0, 1))
    g = dy * gamma
    return rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)), dgamma, dy.sum((0, 1))
