# bug: one parametrized case never ends, the others pass
# warns: own_tests
# says: 3 tests: 2 passed, 1 timed out
# budget: 9
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.fixture
def factor():
    return 3.0


@pytest.mark.parametrize("x", [1.0, 2.0, 3.0])
def test_forward(factor, x):
    while x == 2.0:
        pass
    assert scale_forward(x, factor)[0] == 3.0 * x
