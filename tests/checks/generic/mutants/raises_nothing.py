# bug: what should raise does not
# fails: own_tests
# says: 1 test: 1 failed
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_refuses_text():
    with pytest.raises(TypeError):
        scale_forward("ab", 2)
