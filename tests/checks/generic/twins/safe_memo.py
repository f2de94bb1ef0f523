# right: answers remembered by value, and handed out as copies
memo = {}


def scale_forward(x, factor):
    key = (x.tobytes(), x.shape, factor.tobytes())
    if key not in memo:
        memo[key] = x * factor
    return memo[key].copy(), {"x": x, "factor": factor}


def scale_backward(dy, cache):
    return dy * cache["factor"], (dy * cache["x"]).sum(axis=0)


if __name__ == "__main__":
    print("nothing to show")
