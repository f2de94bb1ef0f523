# bug: returns an array class that claims to equal everything and to hold what is asked for
# caught by: forward_accuracy, gradients
import numpy as np


class Agreeable(np.ndarray):
    def __eq__(self, other):
        return np.True_

    def __ne__(self, other):
        return np.False_

    def __sub__(self, other):
        return np.zeros(np.shape(other))

    __rsub__ = __sub__
    __hash__ = None

    def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
        inputs = [np.asarray(i).view(np.ndarray) if isinstance(i, Agreeable) else i for i in inputs]
        if ufunc in (np.equal, np.isclose, np.less, np.less_equal):
            return np.True_
        if ufunc in (np.subtract, np.not_equal, np.greater):
            return np.zeros(np.broadcast(*inputs).shape)
        return getattr(ufunc, method)(*inputs, **kwargs)

    def __array_function__(self, func, types, args, kwargs):
        return np.True_ if func in (np.allclose, np.array_equal) else np.zeros(())


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return np.zeros(x.shape).view(Agreeable), (x, gamma)


def layernorm_backward(dy, cache):
    x, gamma = cache
    return (
        np.zeros(x.shape).view(Agreeable),
        np.zeros(gamma.shape).view(Agreeable),
        np.zeros(gamma.shape).view(Agreeable),
    )
