# bug: what its tests share raises when it is imported
# fails: own_tests
# says: 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)

