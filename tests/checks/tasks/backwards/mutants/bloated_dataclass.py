# bug: a dataclass with a field that nothing reads
# caught by: cache_minimality
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Context:
    xhat: np.ndarray
    rstd: np.ndarray
    var: np.ndarray
    gamma: np.ndarray


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    var = (c * c).mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(var + eps)
    return gamma * c * rstd + beta, Context(c * rstd, rstd, var, gamma)


def layer_norm_backward(dy, ctx):
    g = dy * ctx.gamma
    dx = ctx.rstd * (g - g.mean(-1, keepdims=True) - ctx.xhat * (g * ctx.xhat).mean(-1, keepdims=True))
    return dx, (dy * ctx.xhat).sum((0, 1)), dy.sum((0, 1))
