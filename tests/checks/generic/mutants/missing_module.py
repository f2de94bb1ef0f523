# bug: a module that is not installed
# warns: loads
# says: needs the module 'no_such_module_anywhere', which is not installed
import no_such_module_anywhere as missing


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
