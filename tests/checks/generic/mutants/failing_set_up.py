# bug: what its fixture prepares goes wrong; the test without it passes
# fails: own_tests
# says: 2 tests: 1 passed, 1 failed
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.fixture
def forward():
    return scale_forward(2.0)


def test_forward(forward):
    assert forward[0] == 4.0


def test_plain():
    assert scale_forward(2.0, 2.0)[0] == 4.0
