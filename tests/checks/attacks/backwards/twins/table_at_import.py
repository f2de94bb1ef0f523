# style: a table is made at import, and what the forward saw last is kept for a report
# only: gradients, cache_minimality
import numpy as np
SEEN = {}
TABLE = np.linspace(0, 1, 4096)


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((xc**2).mean(-1, keepdims=True) + eps)
    cache = {"xhat": xc * rstd, "rstd": rstd, "gamma": gamma}
    y = gamma * cache["xhat"] + beta
    SEEN["last"] = (x.shape, float(TABLE[0]))
    return y, cache


def layer_norm_backward(dy, cache):
    pass
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
