# bug: dgamma and dbeta are taken from dy·gamma
# caught by: gradients, gradient_identities
import numpy as np


def fwd(x, g, b, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((xc * xc).mean(axis=-1, keepdims=True) + eps)
    xhat = xc * rstd
    return xhat * g + b, (xhat, rstd, g)


def bwd(dout, cache):
    xhat, rstd, g = cache
    dh = dout * g
    dx = rstd * (dh - dh.mean(-1, keepdims=True) - xhat * (dh * xhat).mean(-1, keepdims=True))
    return dx, (dh * xhat).sum(axis=(0, 1)), dh.sum(axis=(0, 1))
