# bug: the feature axis is looked for by its size, so T = D finds the wrong one
# caught by: forward_accuracy, gradients
import numpy as np


def forward(x, gamma, beta, eps=1e-5):
    axis = x.shape.index(gamma.size)
    mean = x.mean(axis=axis, keepdims=True)
    rstd = 1.0 / np.sqrt(x.var(axis=axis, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, {"xhat": xhat, "rstd": rstd, "gamma": gamma, "axis": axis}


def backward(dy, cache):
    xhat, rstd, gamma, axis = cache["xhat"], cache["rstd"], cache["gamma"], cache["axis"]
    g = dy * gamma
    mean_g = g.mean(axis=axis, keepdims=True)
    mean_gx = (g * xhat).mean(axis=axis, keepdims=True)
    dx = rstd * (g - mean_g - xhat * mean_gx)
    return {"dx": dx, "dgamma": (dy * xhat).sum(axis=(0, 1)), "dbeta": dy.sum(axis=(0, 1))}
