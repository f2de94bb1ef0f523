# bug: dx is divided by the variance instead of the standard deviation
# caught by: gradients, gradient_identities, degenerate, gradient_cost
import numpy as np


def layer_norm_fwd(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    var = (xc * xc).mean(axis=-1, keepdims=True) + eps
    xhat = xc / np.sqrt(var)
    return xhat * gamma + beta, (xhat, var, gamma)


def layer_norm_bwd(dout, cache):
    xhat, var, gamma = cache
    g = dout * gamma
    dx = (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True)) / var
    return dx, (dout * xhat).sum(axis=(0, 1)), dout.sum(axis=(0, 1))
