# right: what looks like a test is a helper that its main block calls, in a file called a test
# says: 2 tests and scripts: 1 passed, 1 not run
import numpy as np


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


def test_accuracy(forward, pairs):
    return float(np.mean([forward(x, 2.0)[0] == y for x, y in pairs]))


if __name__ == "__main__":
    accuracy = test_accuracy(scale_forward, [(1.0, 2.0), (2.0, 4.0)])
    print(f"accuracy {accuracy:.0%}")
    assert accuracy == 1.0
