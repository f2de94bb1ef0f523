# style: the cache is an array of objects, one to a row
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    kept = np.empty((3, 1), dtype=object)
    kept[0, 0], kept[1, 0], kept[2, 0] = centred * rstd, rstd, gamma
    return kept[0, 0] * gamma + beta, kept


def layer_norm_backward(dy, kept):
    ((xhat,), (rstd,), (gamma,)) = kept
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
