# bug: y has the order of x in memory, and the rows that are written are those of a copy where that is no plain one
# caught by: forward_accuracy
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    width = x.shape[-1]
    y, xhat, rstd = np.empty_like(x), np.empty(x.shape, x.dtype), np.empty(x.shape[:-1] + (1,), x.dtype)
    out, hat, scale = y.reshape(-1, width), xhat.reshape(-1, width), rstd.reshape(-1, 1)
    for row, values in enumerate(x.reshape(-1, width)):
        centred = values - values.mean()
        scale[row] = 1 / np.sqrt((centred**2).mean() + eps)
        hat[row] = centred * scale[row]
        out[row] = gamma * hat[row] + beta
    return y, (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
