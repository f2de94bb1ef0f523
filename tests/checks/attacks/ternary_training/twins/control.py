# style: what the attacks beside it are made from
# only: projection, ste
"""A linear layer with ternary weights in groups of 128, and a straight-through backward."""
import numpy as np


def project(W, group_size=128):
    out = np.zeros_like(W)
    for start in range(0, W.shape[1], group_size):
        part = W[:, start:start + group_size]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, start:start + group_size] = np.clip(np.round(part / (s + 1e-10)), -1, 1) * s
    return out


class TernaryLinear:
    def __init__(self, in_features, out_features):
        self.weight = np.random.randn(out_features, in_features)
        self.bias = np.zeros(out_features)

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.dweight = dy.T @ self.x
        self.dbias = dy.sum(axis=0)
        return dy @ self.q

    def update(self, lr):
        self.weight -= lr * self.dweight
        self.bias -= lr * self.dbias
