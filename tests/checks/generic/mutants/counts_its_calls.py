# bug: a count of calls leaks into the answer
# fails: purity
# says: forward repeats itself: differs
calls = 0


def scale_forward(x, factor):
    global calls
    calls += 1
    return x * factor * (1.0 + 1e-12 * calls), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
