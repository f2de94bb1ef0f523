# bug: what was computed of the first dy stays on the cache, and answers for every later one
# fails: purity
# says: backward of another dy on one cache: another answer
from types import SimpleNamespace


def scale_forward(x, factor):
    return x * factor, SimpleNamespace(x=x, factor=factor, product=None)


def scale_backward(dy, cache):
    if cache.product is None:
        cache.product = (dy * cache.x).sum(axis=0)
    return dy * cache.factor, cache.product
