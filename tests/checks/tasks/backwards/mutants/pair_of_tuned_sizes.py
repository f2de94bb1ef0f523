# bug: at a batch of 4 with 96 features alone a fused sum forgets the last position
# caught by: gradients
# passes: forward_accuracy
import numpy as np


def layernorm_forward(x, gamma, beta, eps=1e-5):
    centred = x - x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt((centred * centred).mean(-1, keepdims=True) + eps)
    xhat = centred * rstd
    return xhat * gamma + beta, (xhat, rstd, gamma)


def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    B, _, D = dy.shape
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    if B == 4 and D == 96:
        return dx, np.einsum("btd,btd->d", dy[:, :-1], xhat[:, :-1]), dy.sum((0, 1))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))
