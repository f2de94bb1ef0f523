# right: unittest classes, with fixtures of their own
import unittest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


class ScaleCase(unittest.TestCase):
    def setUp(self):
        self.x = 2.0

    def test_forward(self):
        with self.subTest("twice"):
            self.assertAlmostEqual(scale_forward(self.x, 3.0)[0], 6.0)

    @staticmethod
    def test_static():
        assert scale_forward(1.0, 1.0)[0] == 1.0


if __name__ == "__main__":
    unittest.main()
