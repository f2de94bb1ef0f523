# bug: from 900 rows on they are worked on in blocks of 8, whose rows share the two means of dx
# caught by: gradients
# passes: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np

MANY, BLOCK = 900, 8


def forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def backward(dy, cache):
    xhat, rstd, gamma = cache
    width = dy.shape[-1]
    flat = [each.reshape(-1, each.shape[-1]) for each in (dy * gamma, xhat, rstd)]
    count = len(flat[0])
    step = BLOCK if count >= MANY else 1
    dx = np.empty((count, width))
    for start in range(0, count, step):
        g, n, r = (each[start : start + step] for each in flat)
        dx[start : start + step] = r * (g - g.sum() / width - n * ((g * n).sum() / width))
    return dx.reshape(dy.shape), (dy * xhat).sum((0, 1)), dy.sum((0, 1))
