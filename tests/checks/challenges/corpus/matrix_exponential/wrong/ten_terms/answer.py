import numpy as np


def expm(a):
    total = term = np.eye(len(a), dtype=a.dtype)
    for k in range(1, 10):
        term = term @ a / k
        total = total + term
    return total
