# bug: answers are remembered by shape
# fails: purity, right
# says: in a process of its own: another answer than after other calls
memo = {}


def scale_forward(x, factor):
    if x.shape not in memo:
        memo[x.shape] = x * factor
    return memo[x.shape].copy(), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
