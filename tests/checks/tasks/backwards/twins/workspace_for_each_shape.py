# style: rows are centred in one workspace for each shape, which nothing reads behind the forward
# only: gradients, forward_accuracy
import numpy as np


_ROOM = {}


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = _ROOM.setdefault((x.shape, x.dtype), np.empty(x.shape, x.dtype))
    np.subtract(x, x.mean(-1, keepdims=True), out=centred)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
