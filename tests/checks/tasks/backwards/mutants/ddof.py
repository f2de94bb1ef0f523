# bug: the variance is taken over D − 1, and the backward follows it
# caught by: forward_accuracy, gradients, degenerate
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    std = np.sqrt(np.var(x, axis=-1, keepdims=True, ddof=1) + eps)
    xhat = (x - mean) / std
    return gamma * xhat + beta, (xhat, std, gamma)


def layer_norm_backward(dy, cache):
    xhat, std, gamma = cache
    D = dy.shape[-1]
    g = dy * gamma
    dx = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).sum(-1, keepdims=True) / (D - 1)) / std
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
