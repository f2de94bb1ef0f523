# bug: the call needs a module that is not installed
# skips: purity, right
# says: needs the module 'no_such_module_anywhere'
from no_such_module_anywhere import scaled


def scale_forward(x, factor):
    return scaled(x, factor), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
