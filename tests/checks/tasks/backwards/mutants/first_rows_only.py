# bug: dgamma sums the first 64 rows only
# caught by: gradients
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    xc = x - mu
    rstd = 1.0 / np.sqrt((xc**2).mean(axis=-1, keepdims=True) + eps)
    xhat = xc * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    D = xhat.shape[-1]
    g = dy * gamma
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    dgamma = (dy * xhat).reshape(-1, D)[:64].sum(axis=0)
    dbeta = dy.sum(axis=(0, 1))
    return dx, dgamma, dbeta
