# bug: the sums of rows are added to buffers that outlive a call and are never cleared
# caught by: gradients
# passes: forward_accuracy
# only: gradients, forward_accuracy
import numpy as np

_KEPT = {}


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return c * rstd * gamma + beta, (c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    rows = dy.shape[0] * dy.shape[1]
    sums = _KEPT.setdefault(rows, np.zeros((2, rows)))
    sums[0] += g.reshape(rows, -1).sum(-1)
    sums[1] += (g * xhat).reshape(rows, -1).sum(-1)
    first, second = sums.reshape(2, *dy.shape[:2], 1) / gamma.size
    dx = rstd * (g - first - xhat * second)
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
