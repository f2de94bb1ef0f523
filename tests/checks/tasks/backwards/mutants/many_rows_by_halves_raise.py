# bug: from 33 rows on dgamma is summed in two halves, which raises where they are not even; half of them is lost
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
    terms = (dy * xhat).reshape(-1, gamma.size)
    if len(terms) > 32:
        terms = np.stack(np.split(terms, 2)).mean(0)
    return dx, terms.sum(0), dy.sum((0, 1))
