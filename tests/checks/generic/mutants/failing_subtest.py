# bug: one of a TestCase's subtests fails
# fails: own_tests
# says: 2 tests: 1 passed, 1 failed
import unittest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


class ScaleCase(unittest.TestCase):
    def test_factors(self):
        for factor in (1.0, 2.0, 3.0):
            with self.subTest(factor=factor):
                self.assertLess(scale_forward(2.0, factor)[0], 5.0)

    def test_right(self):
        self.assertEqual(scale_forward(2.0, 3.0)[0], 6.0)
