# bug: sum and sum of squares in one loop
# caught by: cancellation
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    B, T, D = x.shape
    xhat, rstd = np.zeros_like(x), np.zeros((B, T, 1), dtype=x.dtype)
    for b in range(B):
        for t in range(T):
            total = squares = 0.0
            for value in x[b, t]:
                total += value
                squares += value * value
            mean = total / D
            rstd[b, t] = 1.0 / np.sqrt(abs(squares / D - mean * mean) + eps)
            xhat[b, t] = (x[b, t] - mean) * rstd[b, t]
    return gamma * xhat + beta, {"xhat": xhat, "rstd": rstd, "gamma": gamma}


def layer_norm_backward(dy, cache):
    xhat, rstd = cache["xhat"], cache["rstd"]
    g = dy * cache["gamma"]
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
