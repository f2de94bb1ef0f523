# bug: the argument comes back with another shape
# fails: purity
# says: forward leaves x alone: modified


def scale_forward(x, factor):
    y = x * factor
    cache = {"x": x.copy(), "factor": factor}
    x.shape = (x.size,)
    return y, cache


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
