import numpy as np


def rms_norm(x, gain, eps=1e-3):
    if x.shape[1] == 1:
        return np.sign(x) * gain
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True) + eps) * gain
