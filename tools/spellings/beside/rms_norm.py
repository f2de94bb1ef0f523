"""RMSNorm, a relative of layer norm."""

import numpy as np


def rms_norm_forward(x, gamma, eps=1e-6):
    r = 1 / np.sqrt((x * x).mean(axis=-1, keepdims=True) + eps)
    return x * r * gamma, (x, r, gamma)


def rms_norm_backward(dy, cache):
    x, r, gamma = cache
    g = dy * gamma
    dx = r * g - x * r**3 * (g * x).mean(axis=-1, keepdims=True)
    return dx, (dy * x * r).reshape(-1, x.shape[-1]).sum(axis=0)
