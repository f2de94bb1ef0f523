# bug: one method of a TestCase fails
# fails: own_tests
# says: 1 passed, 1 failed
import unittest


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


class Base(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.factor = 3.0

    def setUp(self):
        self.x = 2.0


class ScaleCase(Base):
    def test_right(self):
        self.assertEqual(scale_forward(self.x, self.factor)[0], 6.0)

    def test_wrong(self):
        self.assertEqual(scale_forward(self.x, self.factor)[0], 5.0)


if __name__ == "__main__":
    unittest.main()
