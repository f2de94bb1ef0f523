# bug: rows of whole lanes of 8 are normalised with the default eps, whatever eps is given
# caught by: forward_accuracy, gradients
# only: forward_accuracy, gradients
import numpy as np

USUAL = {"eps": 1e-5}


def _deviations(x, eps):
    return np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) + eps)


def _by_lanes(x, **settings):
    """Sums eight lanes side by side."""
    eps = {**USUAL, **settings}["eps"]
    lanes = x.reshape(*x.shape[:-1], -1, 8)
    mean = lanes.sum(-2).sum(-1, keepdims=True) / x.shape[-1]
    squares = ((lanes - mean[..., None]) ** 2).sum(-2).sum(-1, keepdims=True)
    return mean, np.sqrt(squares / x.shape[-1] + eps)


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    if x.shape[-1] % 8:
        mean, std = x.mean(-1, keepdims=True), _deviations(x, eps)
    else:
        mean, std = _by_lanes(x, epsilon=eps)
    xhat = (x - mean) / std
    return xhat * gamma + beta, (xhat, 1.0 / std, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
