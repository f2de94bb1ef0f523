# bug: one of ten parametrized cases fails, behind a fixture that yields
# fails: own_tests
# says: 11 tests: 10 passed, 1 failed
import numpy as np
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.fixture(scope="module", params=[1.0, -2.0])
def factor(request):
    yield request.param


@pytest.fixture
def x():
    return np.arange(4.0)


@pytest.mark.parametrize("power", range(5))
def test_powers(x, factor, power):
    y, _ = scale_forward(x, factor**power)
    assert y.max() == pytest.approx(max(3.0 * factor**power, 0.0) + (power == 3 and factor > 0))


def test_plain(x):
    assert scale_forward(x, 2.0)[0][1] == 2.0
