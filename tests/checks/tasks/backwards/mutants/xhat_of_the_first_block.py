# bug: dgamma takes the rows of the first block of 8 for those of every block
# caught by: gradients
# only: gradients, forward_accuracy
import numpy as np


def layer_norm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


def layer_norm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    return dx, (dy.reshape(-1, g.shape[-1]) * xhat.reshape(-1, g.shape[-1])[np.arange(g[..., 0].size) % 8]).sum(0), dy.sum((0, 1))
