# bug: the argument is multiplied where it lies
# fails: purity
# says: forward leaves x alone: modified


def scale_forward(x, factor):
    kept = x.copy()
    x *= factor
    return x, (kept, factor)


def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, (dy * x).sum(axis=0)
