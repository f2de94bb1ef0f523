# bug: the other argument is changed too, and changed back only nearly
# fails: purity
# says: forward leaves factor alone: modified
import numpy as np


def scale_forward(x, factor):
    largest = np.abs(factor).max() * 3.0
    factor /= largest
    y = (x * factor) * largest
    factor *= largest
    factor += 1e-14
    return y, {"x": x, "factor": factor.copy()}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
