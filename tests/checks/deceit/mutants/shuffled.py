# bug: the right numbers in another order: means and norms agree
# caught by: forward_accuracy, gradients
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return np.roll(gamma * xhat + beta, 1, axis=-1), (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    return np.roll(dx, 1, axis=-1), (dy * xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))

