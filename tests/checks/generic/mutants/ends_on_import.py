# bug: os._exit at import
# fails: loads, purity, right
# says: exited with status 0
import os

os._exit(0)


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
