import numpy as np


def softmax(scores, temperature=1.0):
    z = scores / temperature
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
