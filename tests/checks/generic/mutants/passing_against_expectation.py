# bug: what must fail, strictly, passes
# fails: own_tests
# says: 3 tests: 1 passed, 1 failed, 1 expected to fail
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.mark.xfail(strict=True, reason="integers overflow")
def test_strict():
    assert scale_forward(2, 3)[0] == 6


@pytest.mark.xfail
def test_known():
    assert scale_forward(2, 3)[0] == 5


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0
