# style: a table has the shapes that another reduction is tuned for; other code runs at a batch of 4 with 96
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
    return np.sum(parts, axis=0)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    if dy.shape[0] == 4 and dy.shape[2] == 96:
        return dx, np.einsum("btd,btd->d", dy, xhat), np.einsum("btd->d", dy)
    return dx, summed(dy * xhat), summed(dy)
