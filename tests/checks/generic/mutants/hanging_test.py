# bug: a test never ends, the next one passes
# warns: own_tests
# says: 1 passed, 1 timed out
# budget: 6
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_hangs():
    while True:
        pass


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0
