# bug: its own test stumbles
# fails: own_tests
# says: 1 passed, 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


class TestScale:
    def setup_method(self):
        self.factor = 3.0

    def test_right(self):
        assert scale_forward(2.0, self.factor)[0] == 6.0

    def test_stumbles(self):
        scale_forward(2.0)
