# bug: no eps at all
# caught by: forward_accuracy, gradients, degenerate
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xhat = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return gamma * xhat + beta, (xhat, x.std(-1, keepdims=True), gamma)


def layer_norm_backward(dy, cache):
    xhat, std, gamma = cache
    g = dy * gamma
    dx = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)) / std
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
