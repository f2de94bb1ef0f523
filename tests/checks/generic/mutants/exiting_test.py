# bug: a test leaves with sys.exit, another with pytest.exit; the ones behind them pass
# fails: own_tests
# says: 4 tests: 2 passed, 2 failed
import sys

import pytest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_exits():
    sys.exit(0)


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0


def test_ends_all():
    pytest.exit("enough", returncode=0)


def test_right_again(tmp_path):
    assert scale_forward(2.0, 4.0)[0] == 8.0
