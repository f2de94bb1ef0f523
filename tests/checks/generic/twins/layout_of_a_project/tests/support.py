import numpy as np


def numbers(count):
    return np.linspace(-1.0, 1.0, count)
