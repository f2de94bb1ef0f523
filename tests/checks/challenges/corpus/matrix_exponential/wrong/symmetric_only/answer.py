import numpy as np


def expm(a):
    w, v = np.linalg.eigh(a)
    return (v * np.exp(w)) @ v.T
