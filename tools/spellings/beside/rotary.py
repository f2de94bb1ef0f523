"""Rotary positions."""

import numpy as np


def rotary(x, positions, base=10000.0):
    d = x.shape[-1] // 2
    f = base ** (-np.arange(d) / d)
    a = np.asarray(positions)[:, None] * f
    x1, x2 = x[..., :d], x[..., d:]
    return np.concatenate([x1 * np.cos(a) - x2 * np.sin(a), x1 * np.sin(a) + x2 * np.cos(a)], axis=-1)
