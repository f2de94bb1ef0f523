"""Binary weights, to compare with."""

import numpy as np


def binarize(w):
    return np.sign(w) * np.mean(np.abs(w))
