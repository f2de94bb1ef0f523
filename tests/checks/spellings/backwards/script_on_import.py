"""A script: it computes and prints on import, and its main block is for people."""
import sys

import numpy as np

np.random.seed(0)
X = np.random.randn(2, 4, 8)
print("shape", X.shape, file=sys.stderr)


def forward(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + eps)
    return (x - mean) * rstd * gamma + beta, (x, mean, rstd, gamma)


def backward(dy, cache):
    x, mean, rstd, gamma = cache
    xhat = (x - mean) * rstd
    dxhat = dy * gamma
    dx = rstd * (dxhat - dxhat.mean(-1, keepdims=True) - xhat * (dxhat * xhat).mean(-1, keepdims=True))
    return dx, (dy * xhat).sum((0, 1)), dy.sum((0, 1))


out, cache = forward(X, np.ones(8), np.zeros(8))
print("gradient", backward(np.ones_like(out), cache)[0].sum())

if __name__ == "__main__":
    raise SystemExit("not for import")
