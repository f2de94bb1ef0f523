# bug: dgamma and dbeta are averaged over the rows
# caught by: gradients, gradient_identities
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((xc * xc).mean(axis=-1, keepdims=True) + eps)
    return gamma * (xc * rstd) + beta, {"xc": xc, "rstd": rstd, "gamma": gamma}


def layer_norm_backward(dy, cache):
    xhat = cache["xc"] * cache["rstd"]
    g = dy * cache["gamma"]
    dx = cache["rstd"] * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).mean(axis=(0, 1)), dy.mean(axis=(0, 1))
