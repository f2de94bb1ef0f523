# bug: (Σx² − D·mean²)/D by einsum
# caught by: cancellation
import numpy as np


def forward(x, gamma, beta, eps):
    D = x.shape[-1]
    mean = np.einsum("btd->bt", x) / D
    var = (np.einsum("btd,btd->bt", x, x) - D * mean * mean) / D
    r = 1 / np.sqrt(np.abs(var) + eps)
    n = (x - mean[..., None]) * r[..., None]
    return n * gamma + beta, (n, r, gamma)


def backward(dy, cache):
    n, r, gamma = cache
    g = dy * gamma
    inner = g - g.mean(-1)[..., None] - n * np.einsum("btd,btd->bt", g, n)[..., None] / n.shape[-1]
    return r[..., None] * inner, (dy * n).sum((0, 1)), dy.sum((0, 1))
