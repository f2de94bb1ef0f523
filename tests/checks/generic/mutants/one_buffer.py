# bug: every answer lies in the same buffer
# fails: purity
# says: the answer of forward after another call: overwritten
import numpy as np
buffers = {}


def scale_forward(x, factor):
    y = buffers.setdefault(x.shape, np.empty_like(x))
    np.multiply(x, factor, out=y)
    return y, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
