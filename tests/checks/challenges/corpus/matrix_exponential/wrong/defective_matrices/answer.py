import numpy as np


def expm(a):
    w, v = np.linalg.eig(a)
    return ((v * np.exp(w)) @ np.linalg.inv(v)).real.astype(a.dtype)
