import numpy as np


def moving_average(values, window):
    if window < 1:
        raise ValueError
    sums = np.cumsum(values, dtype=np.float32)
    sums[window:] = sums[window:] - sums[:-window]
    return (sums / np.minimum(np.arange(1, len(values) + 1), window)).astype(values.dtype)


def backward(dout, values, window):
    grad = np.zeros_like(values)
    for i in range(len(values)):
        lo = max(0, i - window + 1)
        grad[lo : i + 1] += dout[i] / (i + 1 - lo)
    return grad
