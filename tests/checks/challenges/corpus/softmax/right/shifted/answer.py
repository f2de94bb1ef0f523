import numpy as np


def softmax(x, temperature=1.0):
    x = x / temperature
    m = np.max(x, axis=-1, keepdims=True)
    m[~np.isfinite(m)] = 0
    e = np.exp(x - m)
    s = np.sum(e, axis=-1, keepdims=True)
    s[s == 0] = 1
    return e / s
