# bug: the input's gradient goes through the latent weights
# caught by: ste
# passes: projection
import numpy as np


def ternary(w):
    q = np.zeros_like(w)
    for i in range(0, w.shape[1], 128):
        part = w[:, i:i + 128]
        s = np.mean(np.abs(part), 1, keepdims=True)
        q[:, i:i + 128] = s * np.clip(np.round(part / (s + 1e-12)), -1, 1)
    return q


def ternary_linear_forward(x, w, b):
    return x @ ternary(w).T + b, (x, w)


def ternary_linear_backward(dy, cache):
    x, w = cache
    return dy @ w, dy.T @ x, dy.sum(axis=0)
