# bug: NaN for every answer: where NaN is expected, or NaN compares as no difference, it passes
# caught by: forward_accuracy, gradients, gradient_identities, degenerate, cancellation
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return np.full(x.shape, np.nan), (x, gamma)


def layernorm_backward(dy, cache):
    x, gamma = cache
    return np.full(x.shape, np.nan), np.full(gamma.shape, np.nan), np.full(gamma.shape, np.nan)
