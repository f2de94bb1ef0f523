# bug: everything comes from jax
# fails: loads
# says: no jax: imported and used
from jax.numpy import *


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
