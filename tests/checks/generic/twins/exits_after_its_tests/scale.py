# right: a file of tests that runs them itself, without a guard, and leaves with status 0
# says: 1 test: 1 passed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)

