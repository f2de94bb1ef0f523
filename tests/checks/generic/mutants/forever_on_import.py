# bug: import never ends
# fails: loads, purity, right
# says: took longer than its budget
# budget: 6
while True:
    pass


def scale_forward(x, factor):
    return x * factor, {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
