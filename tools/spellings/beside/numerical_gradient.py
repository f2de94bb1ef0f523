"""Gradients by central differences."""

import numpy as np


def numerical_gradient(f, x, h=1e-5):
    g = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        kept = x[i]
        x[i] = kept + h
        up = f(x)
        x[i] = kept - h
        down = f(x)
        x[i] = kept
        g[i] = (up - down) / (2 * h)
    return g
