# bug: its own test says False instead of raising
# fails: own_tests
# says: 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_scale():
    return scale_forward(2.0, 3.0)[0] == 5.0
