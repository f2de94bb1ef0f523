# bug: rstd lies in one workspace for each shape, so a backward reads that of the last forward
# caught by: gradients, purity
# only: gradients, forward_accuracy, purity
import numpy as np


_ROOM = {}


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    room = _ROOM.setdefault(rstd.shape, np.empty(rstd.shape))
    room[...] = rstd
    rstd = room
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
