# right: one buffer inside, copies outside
import numpy as np
buffer = np.empty(0)


def scale_forward(x, factor, *, out=None):
    global buffer
    if buffer.shape != x.shape:
        buffer = np.empty_like(x)
    np.multiply(x, factor, out=buffer)
    return buffer.copy(), (x, factor)


def scale_backward(dy, cache):
    x, factor = cache
    return dy * factor, np.einsum("bd,bd->d", dy, x)


def test_scale():
    assert scale_forward(np.ones(2), np.ones(2))[0].sum() == 2.0
