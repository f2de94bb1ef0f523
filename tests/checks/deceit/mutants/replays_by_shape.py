# bug: right once per shape: every later call of that shape gets the first answer again
# caught by: forward_accuracy, gradients
import functools

import numpy as np

SEEN = {}


def once(answer):
    @functools.wraps(answer)
    def kept(first, *rest):
        key = (answer.__name__, np.shape(first))
        if key not in SEEN:
            SEEN[key] = answer(first, *rest)
        return SEEN[key]

    return kept


@once
def layernorm_forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(((x - mean) ** 2).mean(axis=-1, keepdims=True) + eps)
    xhat = (x - mean) * rstd
    return gamma * xhat + beta, (xhat, rstd, gamma)


@once
def layernorm_backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(axis=-1, keepdims=True) - xhat * (g * xhat).mean(axis=-1, keepdims=True))
    return dx, (dy * xhat).sum(axis=(0, 1)), dy.sum(axis=(0, 1))

