# style: dgamma and dbeta add up 16 shares of a workspace that outlives a call, all of which each call writes
# only: gradients, forward_accuracy
import numpy as np

SHARES = 16
_KEPT = {}


def forward(x, gamma, beta, eps=1e-5):
    c = x - x.mean(-1, keepdims=True)
    rstd = 1.0 / np.sqrt((c * c).mean(-1, keepdims=True) + eps)
    return c * rstd * gamma + beta, (c * rstd, rstd, gamma)


def backward(dy, cache):
    xhat, rstd, gamma = cache
    g = dy * gamma
    dx = rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
    rows, width = dy.shape[0] * dy.shape[1], dy.shape[2]
    both = np.stack([(dy * xhat).reshape(rows, width), dy.reshape(rows, width)])
    shares = _KEPT.setdefault(width, np.empty((2, SHARES, width)))
    for share in range(SHARES):
        shares[:, share] = both[:, share::SHARES].sum(axis=1)
    dgamma, dbeta = shares.sum(axis=1)
    return dx, dgamma, dbeta
