# bug: a test ends the process, the next one passes
# fails: own_tests
# says: 1 passed, 1 failed
import os


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_dies():
    os._exit(0)


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0
