# bug: one of the tests in a folder with fixtures of its own fails
# fails: own_tests
# says: 2 tests: 1 passed, 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)

