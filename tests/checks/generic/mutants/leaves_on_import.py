# bug: sys.exit at import
# fails: loads, purity, right
# says: raised SystemExit: 3
import sys

sys.exit(3)


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
