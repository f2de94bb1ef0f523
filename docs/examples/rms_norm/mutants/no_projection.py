import numpy as np


def rms_norm_forward(x, gain, eps=1e-6):
    rstd = 1 / np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return x * rstd * gain, (x * rstd, rstd, gain)


def rms_norm_backward(dy, cache):
    unit, rstd, gain = cache
    return dy * gain * rstd, (dy * unit).sum(axis=0)
