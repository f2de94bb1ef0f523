# bug: dropout that nobody asked for
# fails: purity
# says: forward repeats itself: differs
import numpy as np
rng = np.random.default_rng()


def scale_forward(x, factor):
    return x * factor + 1e-9 * rng.standard_normal(x.shape), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
