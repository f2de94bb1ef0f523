# bug: its demo ends with status 3
# fails: own_tests
# says: 1 script: 1 failed
import sys


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


if __name__ == "__main__":
    print("checking")
    sys.exit(3)
