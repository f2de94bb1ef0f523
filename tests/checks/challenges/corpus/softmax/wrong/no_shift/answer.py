import numpy as np


def softmax(scores, temperature=1.0):
    e = np.exp(scores / temperature)
    s = e.sum(axis=-1, keepdims=True)
    return e / np.where(s > 0, s, 1)
