"""Layer norm over a table of rows: x is (N, D) and nothing else."""
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    N, D = x.shape
    mu = x.sum(axis=1, keepdims=True) / D
    centred = x - mu
    rstd = 1.0 / np.sqrt((centred * centred).sum(axis=1, keepdims=True) / D + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, {"xhat": xhat, "rstd": rstd, "gamma": gamma}


def layernorm_backward(dout, cache):
    N, D = dout.shape
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dout * gamma
    dx = rstd * (g - g.mean(axis=1, keepdims=True) - xhat * (g * xhat).mean(axis=1, keepdims=True))
    return dx, np.sum(dout * xhat, axis=0), np.sum(dout, axis=0)
