# bug: a file of tests that runs them itself and leaves with status 1
# fails: own_tests
# says: 1 failed
import sys


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_scale():
    assert scale_forward(2.0, 3.0)[0] == 5.0


def main():
    try:
        test_scale()
    except AssertionError:
        return 1
    return 0


if "pytest" not in __name__:
    sys.exit(main())
