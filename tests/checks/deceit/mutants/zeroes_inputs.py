# bug: zeroes what it is given, so that a reference computed later would agree with zero gradients
# caught by: gradients, purity
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps)
    return gamma * (x - mean) * rstd + beta, (x, rstd, gamma)


def layernorm_backward(dy, cache):
    x, rstd, gamma = cache
    dy *= 0.0
    x *= 0.0
    gamma *= 0.0
    return np.zeros(dy.shape), np.zeros(gamma.shape), np.zeros(gamma.shape)
