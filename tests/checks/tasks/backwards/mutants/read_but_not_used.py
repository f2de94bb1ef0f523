# bug: an entry is read and multiplied by zero, which justifies nothing
# caught by: cache_minimality
from typing import NamedTuple

import numpy as np


class Cache(NamedTuple):
    raw: np.ndarray
    xhat: np.ndarray
    rstd: np.ndarray
    gamma: np.ndarray


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return gamma * c * rstd + beta, Cache(1.0 * x, c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    g = dy * cache.gamma
    dx = cache.rstd * (g - g.mean(-1, keepdims=True) - cache.xhat * (g * cache.xhat).mean(-1, keepdims=True))
    dx = dx + 0.0 * cache.raw
    return dx, (dy * cache.xhat).sum((0, 1)), dy.sum((0, 1))
