"""The caller's list takes what the backward needs."""
import numpy as np


def layer_norm_forward(x, gamma, beta, cache, *, eps=1e-5):
    m = x.mean(axis=-1)[..., None]
    r = 1.0 / np.sqrt(((x - m) ** 2).mean(axis=-1)[..., None] + eps)
    h = (x - m) * r
    cache.extend([h, r, gamma])
    return h * gamma + beta


def layer_norm_backward(dy, cache):
    h, r, gamma = cache
    t = dy * gamma
    dx = (t - t.mean(axis=-1)[..., None] - h * (t * h).mean(axis=-1)[..., None]) * r
    flat = dy.reshape(-1, dy.shape[-1])
    return dx, (flat * h.reshape(flat.shape)).sum(axis=0), flat.sum(axis=0)
