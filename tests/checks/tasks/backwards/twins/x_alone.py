"""Keeps only what the caller holds anyway and computes the statistics again."""
import numpy as np


def stats(x, eps):
    c = x - x.mean(-1, keepdims=True)
    r = 1.0 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return c * r, r


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return stats(x, eps)[0] * gamma + beta, {"x": x, "gamma": gamma, "eps": eps}


def layernorm_backward(dout, cache):
    n, r = stats(cache["x"], cache["eps"])
    g = dout * cache["gamma"]
    dx = r * (g - g.mean(-1, keepdims=True) - n * (g * n).mean(-1, keepdims=True))
    return dx, np.sum(dout * n, (0, 1)), np.sum(dout, (0, 1))
