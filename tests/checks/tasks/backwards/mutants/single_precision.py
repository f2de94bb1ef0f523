# bug: float32 arithmetic whatever it is given
# warned by: forward_accuracy, gradients, gradient_identities, degenerate, cancellation
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    x, gamma, beta = (np.asarray(v, dtype=np.float32) for v in (x, gamma, beta))
    c = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((c * c).mean(-1, keepdims=True) + np.float32(eps))
    return gamma * c * rstd + beta, (c * rstd, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    dy = dy.astype(np.float32)
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
