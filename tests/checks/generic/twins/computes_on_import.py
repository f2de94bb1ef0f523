# right: a script that prints and computes at import, with a main block that fails
import sys

import numpy as np


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


for _ in range(3):
    print("x" * 200_000)
sys.stdout.reconfigure(encoding="utf-8")
sys.stdout.buffer.write("é\n".encode())
print(np.ones(3) @ np.ones(3))


def test_it():
    assert True


if __name__ == "__main__":
    sys.exit(1)
