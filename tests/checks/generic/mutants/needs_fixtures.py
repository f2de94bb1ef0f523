# bug: tests that nothing here can call
# warns: own_tests
# says: 1 passed, 3 not run
import unittest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_fixture(tmp_path):
    assert tmp_path


def test_skips():
    raise unittest.SkipTest("no GPU")


def test_module():
    import no_such_module_anywhere

    no_such_module_anywhere.run()


def test_right():
    assert scale_forward(2.0, 3.0)[0] == 6.0
