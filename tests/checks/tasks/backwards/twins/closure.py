"""The forward gives a function that is the backward."""
import numpy as np


def layernorm(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = (np.mean(c * c, -1, keepdims=True) + eps) ** -0.5
    xhat = c * rstd

    def backward(dy):
        g = dy * gamma
        dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * np.mean(g * xhat, -1, keepdims=True))
        return dx, np.sum(dy * xhat, axis=(0, 1)), np.sum(dy, axis=(0, 1))

    return gamma * xhat + beta, backward
