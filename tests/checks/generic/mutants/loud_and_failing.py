# bug: a test fails after megabytes of output
# fails: own_tests
# says: 2 tests: 1 passed, 1 failed
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_loud():
    for _ in range(20_000):
        print("x" * 200)
    assert scale_forward(2.0, 3.0)[0] == 5.0


def test_loud_and_right():
    for _ in range(20_000):
        print("y" * 200)
    assert scale_forward(2.0, 3.0)[0] == 6.0
