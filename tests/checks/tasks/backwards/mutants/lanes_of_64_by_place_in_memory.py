# bug: where D is a multiple of 64 dy is taken for rows that lie number by number
# caught by: gradients
# only: gradients, degenerate
import numpy as np

LANES = 64


def statistics(x, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred, 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)


def forward(x, gamma, beta, eps):
    centred, rstd = statistics(x, eps)
    xhat = centred * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def in_lanes(x):
    """(rows, D / LANES, LANES) of (rows, D)."""
    rows, width = x.shape
    shape = rows, width // LANES, LANES
    return np.lib.stride_tricks.as_strided(x, shape, (x.strides[0], LANES * x.itemsize, x.itemsize))


def backward(dy, cache):
    xhat, rstd, gamma = cache
    width = dy.shape[-1]
    rows = dy.reshape(-1, width)
    if width % LANES == 0:
        rows = in_lanes(rows).reshape(-1, width)
    dy = rows.reshape(dy.shape)
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
