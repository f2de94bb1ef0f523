# bug: backward reads what the last forward left in the module, not the cache that it is given
# fails: purity
# says: backward in a process of its own: another answer than after other calls
last = {}


def scale_forward(x, factor):
    last.update(x=x, factor=factor)
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * last["factor"], (dy * last["x"]).sum(axis=0)
