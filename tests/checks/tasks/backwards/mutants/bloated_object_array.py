# bug: an array of objects holds whatever the forward had at hand; half of it is never read
# caught by: cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    squares = centred * centred
    rstd = 1.0 / np.sqrt(squares.mean(-1, keepdims=True) + eps)
    kept = np.empty(5, dtype=object)
    for place, part in enumerate((centred * rstd, rstd, gamma, squares, centred)):
        kept[place] = part
    return kept[0] * gamma + beta, kept


def layer_norm_backward(dy, kept):
    xhat, rstd, gamma = kept[0], kept[1], kept[2]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
