# bug: the closure keeps a second full-size array that it only names
# caught by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centered = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centered**2).mean(-1, keepdims=True) + eps)
    xhat = centered * rstd

    def backward(dy):
        assert dy.shape == centered.shape
        g = dy * gamma
        dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
        return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))

    return gamma * xhat + beta, backward
