import numpy as np


def expm(a):
    norm = np.abs(a).sum()
    s = max(0, int(np.ceil(np.log2(norm))) + 3) if norm > 0 else 0
    a = a / 2.0**s
    total = term = np.eye(len(a), dtype=a.dtype)
    for k in range(1, 18):
        term = term @ a / k
        total = total + term
    for _ in range(s - 1):
        total = total @ total
    return total
