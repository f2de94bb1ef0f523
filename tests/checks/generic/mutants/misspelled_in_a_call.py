# bug: a misspelled name in the call
# fails: purity, right
# says: raised NameError: name 'facotr' is not defined

def scale_forward(x, factor):
    return x * facotr, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
