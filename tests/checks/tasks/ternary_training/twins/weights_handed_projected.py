# style: the projection by itself; the linear layer is plain and is handed projected weights by the training step
# only: projection, ste
import numpy as np


def ternary_projection(latent, group_size=128):
    """Returns (projected, scales)."""
    scales = []
    projected = np.zeros_like(latent)
    for r in range(latent.shape[0]):
        for c in range(0, latent.shape[1], group_size):
            part = latent[r, c:c + group_size]
            s = np.abs(part).mean()
            scales.append(s)
            projected[r, c:c + group_size] = s * np.clip(np.round(part / (s + 1e-12)), -1, 1)
    return projected, np.array(scales)


def linear_forward(x, w, b):
    return x @ w.T + b, (x, w)


def linear_backward(dy, cache):
    x, w = cache
    return dy @ w, dy.T @ x, dy.sum(axis=0)


def training_step(x, y, latent, b, lr):
    w, _ = ternary_projection(latent)
    out, cache = linear_forward(x, w, b)
    dx, dw, db = linear_backward(out - y, cache)
    return latent - lr * dw, b - lr * db
