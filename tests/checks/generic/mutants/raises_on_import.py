# bug: a name that is not there, at import
# fails: loads, purity, right
# says: raised NameError: name 'undefined' is not defined (raises_on_import.py:4)
table = undefined + 1


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
