# bug: backward works in the cache that it was given
# fails: purity
# says: backward leaves the cache alone: modified at ['x']
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    cache["x"] = cache["x"] * dy
    return dy * cache["factor"], cache["x"].sum(axis=0)
