from collections import deque
from math import fsum


def averages(data, size):
    if size < 1:
        raise ValueError("size")
    last = deque(maxlen=size)
    for value in data:
        last.append(float(value))
        yield fsum(last) / len(last)


def moving_average(data, size):
    return list(averages(data, size))


def moving_average_backward(dout, data, size):
    n = len(data)
    return [fsum(float(dout[j]) / min(j + 1, size) for j in range(i, min(n, i + size))) for i in range(n)]
