# bug: dy is flattened in its order in memory, and not in that of its axes
# caught by: gradients
# only: gradients, forward_accuracy
# passes: forward_accuracy
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    rstd = 1.0 / np.sqrt(x.var(axis=-1, keepdims=True) + eps)
    xhat = (x - x.mean(axis=-1, keepdims=True)) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    width = xhat.shape[-1]
    flat = dy.ravel(order="K").reshape(-1, width)
    rows, scale = xhat.reshape(-1, width), rstd.reshape(-1, 1)
    g = flat * gamma
    dx = scale * (g - g.mean(1, keepdims=True) - rows * (g * rows).mean(1, keepdims=True))
    return dx.reshape(dy.shape), (flat * rows).sum(0), flat.sum(0)
