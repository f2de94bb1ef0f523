# bug: zero for every answer: passes wherever outputs are tiny or an identity is satisfied by zeros
# caught by: forward_accuracy, gradients, gradient_identities, degenerate, cancellation
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return np.zeros(x.shape), (x, gamma)


def layernorm_backward(dy, cache):
    x, gamma = cache
    return np.zeros(x.shape), np.zeros(gamma.shape), np.zeros(gamma.shape)
