# bug: one test of a class ends the process, and says that all is well
# fails: own_tests
# says: 4 tests: 3 passed, 1 failed
import os

import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


@pytest.fixture(scope="class")
def factor():
    return 3.0


class TestScale:
    def test_first(self, factor):
        assert scale_forward(2.0, factor)[0] == 6.0

    def test_leaves(self, factor):
        os._exit(0)

    @pytest.mark.parametrize("x", [1.0, 2.0])
    def test_last(self, factor, x):
        assert scale_forward(x, factor)[0] == 3.0 * x
