import numpy as np


def softmax(scores, temperature=1.0):
    z = scores * temperature
    m = z.max(axis=-1, keepdims=True)
    e = np.exp(z - np.where(np.isfinite(m), m, 0))
    s = e.sum(axis=-1, keepdims=True)
    return e / np.where(s > 0, s, 1)
