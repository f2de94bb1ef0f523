"""The caller owns the dict that the forward fills."""
import numpy as np


def forward(x, gamma, beta, eps, ctx):
    mu = np.mean(x, axis=-1, keepdims=True)
    inv = 1 / np.sqrt(np.mean((x - mu) ** 2, axis=-1, keepdims=True) + eps)
    ctx["n"] = (x - mu) * inv
    ctx["inv"] = inv
    ctx["gamma"] = gamma
    return gamma * ctx["n"] + beta


def backward(dy, ctx):
    n, inv, gamma = ctx["n"], ctx["inv"], ctx["gamma"]
    over = tuple(range(dy.ndim - 1))
    d = dy * gamma
    dx = inv * (d - d.mean(-1, keepdims=True) - n * (d * n).mean(-1, keepdims=True))
    return dx, (dy * n).sum(over), dy.sum(over)
