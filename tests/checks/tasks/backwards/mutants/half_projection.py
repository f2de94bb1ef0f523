# bug: the variance path of the chain rule lacks its factor 2
# caught by: gradients, gradient_identities, cancellation, gradient_cost
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    N = x.shape[-1]
    xmu = x - x.sum(-1, keepdims=True) / N
    std = np.sqrt((xmu**2).sum(-1, keepdims=True) / N + eps)
    return gamma * (xmu / std) + beta, (xmu, std, gamma)


def layernorm_backward(dout, cache):
    xmu, std, gamma = cache
    N = dout.shape[-1]
    dxhat = dout * gamma
    dvar = np.sum(dxhat * xmu * -0.5 * std**-3, axis=-1, keepdims=True)
    dmu = np.sum(-dxhat / std, axis=-1, keepdims=True)
    dx = dxhat / std + dvar * xmu / N + dmu / N
    return dx, np.sum(dout * xmu / std, axis=(0, 1)), np.sum(dout, axis=(0, 1))
