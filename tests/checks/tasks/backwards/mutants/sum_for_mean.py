# bug: the projection is a sum, not divided by D
# caught by: gradients, gradient_identities, cancellation, gradient_cost
import numpy as np


def ln_forward(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    std = np.sqrt(var + eps)
    xhat = (x - mean) / std
    return gamma * xhat + beta, (xhat, std, gamma)


def ln_backward(cache, dy):
    xhat, std, gamma = cache
    B, T, D = dy.shape
    dx = np.zeros_like(dy)
    for b in range(B):
        for t in range(T):
            g = dy[b, t] * gamma
            dx[b, t] = (g - g.sum() / D - xhat[b, t] * np.dot(g, xhat[b, t])) / std[b, t]
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
