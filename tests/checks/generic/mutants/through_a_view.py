# bug: a view of the argument is written to after the answer was made
# fails: purity
# says: forward leaves x alone: modified
import numpy as np


def scale_forward(x, factor):
    y = x * factor
    cache = {"x": x.copy(), "factor": factor}
    rows = x.reshape(-1, x.shape[-1])
    rows[0] = 0.0
    return y, cache


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
