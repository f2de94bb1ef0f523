# bug: its own test fails
# fails: own_tests
# says: 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_scale():
    y, _ = scale_forward(2.0, 3.0)
    assert y == 5.0
