# bug: recursion without end at import
# fails: loads, purity, right
# says: raised RecursionError
def depth(n):
    return depth(n + 1)


depth(0)


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
