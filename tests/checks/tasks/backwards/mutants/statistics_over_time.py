# bug: mean and variance run over T
# caught by: forward_accuracy, gradients
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=1, keepdims=True)
    inv = 1 / np.sqrt(x.var(axis=1, keepdims=True) + eps)
    n = (x - mu) * inv
    return n * gamma + beta, (n, inv, gamma)


def layer_norm_backward(dy, cache):
    n, inv, gamma = cache
    g = dy * gamma
    dx = inv * (g - g.mean(1, keepdims=True) - n * (g * n).mean(1, keepdims=True))
    return dx, (dy * n).sum((0, 1)), dy.sum((0, 1))
