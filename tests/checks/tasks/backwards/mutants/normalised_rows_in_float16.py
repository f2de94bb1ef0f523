# bug: x̂ is kept in float16 for the backward
# caught by: gradients, gradient_identities
# passes: forward_accuracy
import numpy as np


def forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(np.square(centred).mean(axis=-1, keepdims=True) + eps)
    rows = centred * rstd
    return rows * gamma + beta, {"rows": rows.astype(np.float16), "rstd": rstd, "gamma": gamma}


def backward(dy, cache):
    rows = cache["rows"].astype(np.float64)
    g = dy * cache["gamma"]
    shared = g.mean(axis=-1, keepdims=True) + rows * (g * rows).mean(axis=-1, keepdims=True)
    summed = tuple(range(dy.ndim - 1))
    return cache["rstd"] * (g - shared), (dy * rows).sum(axis=summed), dy.sum(axis=summed)
