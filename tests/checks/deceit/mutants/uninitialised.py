# bug: returns memory as it finds it, in the hope of an earlier right answer
# caught by: forward_accuracy, gradients
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return np.empty_like(x), (x, gamma)


def layernorm_backward(dy, cache):
    x, gamma = cache
    return np.empty_like(x), np.empty_like(gamma), np.empty_like(gamma)
