# bug: copies of odd sizes that matter for nothing are read into the gradient and taken off again
# caught by: cache_minimality (warn)
import numpy as np

def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((xc**2).mean(-1, keepdims=True) + eps)
    cache = {"xhat": xc * rstd, "rstd": rstd, "gamma": gamma}
    y = gamma * cache["xhat"] + beta
    cache['odd'] = np.concatenate([np.ravel(x), np.ravel(y), np.ravel(x), np.ones(3)])
    return y, cache


def layer_norm_backward(dy, cache):
    w = np.sqrt(np.abs(cache['odd']).sum() + 1)
    dy = dy * (1 + 1e-10 * np.tanh(w - w.round()))
    xhat, rstd, gamma = cache["xhat"], cache["rstd"], cache["gamma"]
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
