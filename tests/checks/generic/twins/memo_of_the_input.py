# right: what is computed once and kept on the cache does not depend on dy
from types import SimpleNamespace


def scale_forward(x, factor):
    return x * factor, SimpleNamespace(x=x, factor=factor, turned=None)


def scale_backward(dy, cache):
    if cache.turned is None:
        cache.turned = cache.x.T.copy()
    return dy * cache.factor, (cache.turned * dy.T).sum(axis=1)


def test_forward():
    assert scale_forward(2.0, 3.0)[0] == 6.0
