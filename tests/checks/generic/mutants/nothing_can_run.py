# bug: none, but no test of it can be run here
# skips: own_tests
# says: 3 tests: 1 skipped, 2 not run (
import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.mark.skip(reason="takes a day")
def test_slow():
    assert False


@pytest.mark.parametrize("x", [1, 2])
def test_of_a_plug_in(benchmark_of_nobody, x):
    assert False
