# slow: gradient_cost
"""Row by row in loops, scalars by hand."""
import math

import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    B, T, D = x.shape
    y, xhat, rstd = np.empty_like(x), np.empty_like(x), np.empty((B, T), dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            row = x[b, t]
            mu = float(sum(row)) / D
            var = sum((float(v) - mu) ** 2 for v in row) / D
            rstd[b, t] = 1.0 / math.sqrt(var + eps)
            for j in range(D):
                xhat[b, t, j] = (float(row[j]) - mu) * rstd[b, t]
                y[b, t, j] = gamma[j] * xhat[b, t, j] + beta[j]
    return y, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    B, T, D = dy.shape
    dx, dgamma, dbeta = np.zeros_like(dy), np.zeros(D, dtype=dy.dtype), np.zeros(D, dtype=dy.dtype)
    for b in range(B):
        for t in range(T):
            dgamma += dy[b, t] * xhat[b, t]
            dbeta += dy[b, t]
            g = dy[b, t] * gamma
            dx[b, t] = rstd[b, t] * (g - g.sum() / D - xhat[b, t] * (np.dot(g, xhat[b, t]) / D))
    return dx, dgamma, dbeta
