# bug: a table has the shapes that another reduction is tuned for; that one halves its last partial sum
# caught by: gradients
# passes: forward_accuracy
import numpy as np

SPLITS = {(24, 40): 4, (48, 80): 8}


def layernorm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def summed(terms):
    splits = SPLITS.get(terms.shape[1:])
    if splits is None:
        return terms.sum((0, 1))
    parts = [part.sum((0, 1)) for part in np.array_split(terms, splits, axis=1)]
    parts[-1] = parts[-1] / 2
    return np.sum(parts, axis=0)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, summed(dy * xhat), summed(dy)
