# style: arithmetic in the input's dtype, but the cache is kept in float32
# warns: gradients, gradient_identities, cancellation, degenerate (float32 arithmetic on float64 input)
# slow: gradient_cost
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    """Half the cache: the normalized input is kept in float32, y is computed in the input's dtype."""
    mu = x.mean(-1, keepdims=True)
    var = ((x - mu) ** 2).mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt(var + eps)
    xhat = (x - mu) * rstd
    return xhat * gamma + beta, (xhat.astype(np.float32), rstd.astype(np.float32), gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
