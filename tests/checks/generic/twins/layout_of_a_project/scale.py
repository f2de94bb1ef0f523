# right: code below src/, tests in packages of their own with equal names, under conditions, with hyphens
# says: 9 tests: 9 passed
from src.scaling.core import scaled


def scale_forward(x, factor):
    return scaled(x, factor), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
