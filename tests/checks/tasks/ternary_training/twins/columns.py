# style: x is (in, B): y = W @ x + b with b (out, 1)
# only: projection, ste
import numpy as np


def project(W, group_size=128):
    out = np.zeros_like(W)
    for start in range(0, W.shape[1], group_size):
        part = W[:, start:start + group_size]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, start:start + group_size] = np.clip(np.round(part / (s + 1e-10)), -1, 1) * s
    return out


class TernaryLayer:
    def __init__(self, n_in, n_out):
        self.W = np.random.randn(n_out, n_in)
        self.b = np.zeros((n_out, 1))

    def forward(self, x):
        self.x, self.Wq = x, project(self.W)
        return self.Wq @ x + self.b

    def backward(self, dy):
        self.dW = dy @ self.x.T
        self.db = dy.sum(axis=1, keepdims=True)
        return self.Wq.T @ dy
