# bug: rows of dy are read by the strides that a contiguous array would have
# caught by: gradients
# passes: forward_accuracy
import numpy as np
from numpy.lib.stride_tricks import as_strided


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    width, size = dy.shape[-1], dy.itemsize
    rows = as_strided(dy, (dy.size // width, width), (width * size, size)).reshape(xhat.shape)
    g = rows * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (rows * xhat).sum((0, 1)), rows.sum((0, 1))
