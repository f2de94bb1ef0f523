# bug: what its fixture holds at the end does not hold
# fails: own_tests
# says: 1 test: 1 failed
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.fixture
def cache():
    made = scale_forward(2.0, 3.0)[1]
    yield made
    assert made["x"] == 3.0


def test_cache(cache):
    assert cache["factor"] == 3.0
