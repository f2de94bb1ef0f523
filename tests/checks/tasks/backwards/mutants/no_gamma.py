# bug: dx is computed from dy instead of dy·gamma
# caught by: gradients, gradient_identities, degenerate, cancellation, gradient_cost
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    xc = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt((xc * xc).mean(axis=-1, keepdims=True) + eps)
    return gamma * xc * rstd + beta, (xc * rstd, rstd)


def layer_norm_backward(dy, cache):
    xhat, rstd = cache
    m1, m2 = dy.mean(-1, keepdims=True), (dy * xhat).mean(-1, keepdims=True)
    return rstd * (dy - m1 - xhat * m2), (dy * xhat).sum((0, 1)), dy.sum((0, 1))
