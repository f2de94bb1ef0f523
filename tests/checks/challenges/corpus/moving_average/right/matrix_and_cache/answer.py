import numpy as np


def forward(x, k):
    if not k >= 1:
        raise ValueError(k)
    i = np.arange(len(x))
    m = ((i[:, None] >= i) & (i[:, None] - i < k)).astype(x.dtype)
    m /= m.sum(1, keepdims=True)
    return m @ x, m


def backward(dout, cache):
    return cache.T @ dout
