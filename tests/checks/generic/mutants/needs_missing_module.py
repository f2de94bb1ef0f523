# bug: the call needs a module that is not installed
# skips: purity, right
# says: needs no_such_module_anywhere, which is not installed here
from no_such_module_anywhere import scaled


def scale_forward(x, factor):
    return scaled(x, factor), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
