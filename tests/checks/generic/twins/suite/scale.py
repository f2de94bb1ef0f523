# right: tests in folders, with what pytest offers: conftest files, options, fixtures of all kinds, marks
# says: 37 tests: 31 passed, 3 expected to fail, 3 skipped
def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


LIMIT = 10.0


def limited(x, factor):
    if factor > LIMIT:
        raise ValueError(f"factor {factor} is over {LIMIT}")
    return scale_forward(x, factor)[0]
