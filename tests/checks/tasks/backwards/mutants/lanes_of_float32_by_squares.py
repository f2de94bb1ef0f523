# bug: float32 rows take a path in lanes whose variance is E[x²] − E[x]²
# caught by: cancellation
# only: cancellation, degenerate
import numpy as np

LANES = 8


def in_lanes(x):
    main = x.shape[-1] - x.shape[-1] % LANES
    return x[..., :main].reshape(*x.shape[:-1], -1, LANES), x[..., main:]


def total(x):
    lanes, rest = in_lanes(x)
    return lanes.sum(axis=-2).sum(axis=-1) + rest.sum(axis=-1)


def statistics(x):
    width = x.dtype.type(x.shape[-1])
    mean = total(x) / width
    if x.dtype == np.float32:
        return x - mean[..., None], np.maximum(total(x * x) / width - mean * mean, 0)
    centred = x - mean[..., None]
    return centred, (centred * centred).mean(-1)


def forward(x, gamma, beta, eps):
    centred, var = statistics(x)
    rstd = (1 / np.sqrt(var + x.dtype.type(eps)))[..., None]
    xhat = centred * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
