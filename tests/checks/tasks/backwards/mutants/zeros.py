# bug: zeros for an answer
# caught by: gradients, gradient_identities, cancellation, degenerate, gradient_cost, forward_accuracy, cache_minimality
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    return np.zeros_like(x), (x, gamma)


def layer_norm_backward(dy, cache):
    x, gamma = cache
    return np.zeros_like(x), np.zeros_like(gamma), np.zeros_like(gamma)
