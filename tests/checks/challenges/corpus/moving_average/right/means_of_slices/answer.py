import numpy as np


def moving_average(values, window):
    if window < 1:
        raise ValueError("window must be >= 1")
    return np.array([np.mean(values[max(0, i - window + 1) : i + 1]) for i in range(len(values))])


def backward(dout, values, window):
    grad = np.zeros_like(values)
    for i in range(len(values)):
        lo = max(0, i - window + 1)
        grad[lo : i + 1] += dout[i] / (i + 1 - lo)
    return grad
