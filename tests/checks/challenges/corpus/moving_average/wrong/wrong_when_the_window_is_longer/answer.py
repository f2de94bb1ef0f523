import numpy as np


def moving_average(values, window):
    if window < 1:
        raise ValueError
    head = np.cumsum(values[: window - 1]) / np.arange(1, min(window, len(values) + 1))
    tail = np.convolve(values, np.full(window, 1 / window), "valid")
    return np.concatenate([head, tail]).astype(values.dtype)


def backward(dout, values, window):
    grad = np.zeros_like(values)
    for i in range(len(values)):
        lo = max(0, i - window + 1)
        grad[lo : i + 1] += dout[i] / (i + 1 - lo)
    return grad
