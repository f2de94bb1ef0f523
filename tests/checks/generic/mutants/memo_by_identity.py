# bug: answers are remembered by the identity of the argument, whatever it holds by now
# fails: purity
# says: forward on arguments with new contents: another answer
memo = {}


def scale_forward(x, factor):
    if id(x) not in memo:
        memo[id(x)] = x * factor
    return memo[id(x)].copy(), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)
