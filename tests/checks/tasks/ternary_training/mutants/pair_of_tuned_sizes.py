# bug: a layer of 64 outputs and 384 inputs takes a path of its own, whose scale is that of a whole row
# only: projection
# caught by: projection
import numpy as np


def project(W, group_size=128):
    if W.shape == (64, 384):
        s = np.abs(W).mean(axis=1, keepdims=True)
        return np.clip(np.round(W / (s + 1e-10)), -1, 1) * s
    out = np.zeros_like(W)
    for start in range(0, W.shape[1], group_size):
        part = W[:, start : start + group_size]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, start : start + group_size] = np.clip(np.round(part / (s + 1e-10)), -1, 1) * s
    return out


class TernaryLinear:
    def __init__(self, in_features, out_features):
        self.weight = np.random.randn(out_features, in_features)
        self.bias = np.zeros(out_features)

    def forward(self, x):
        self.x, self.projected = x, project(self.weight)
        return x @ self.projected.T + self.bias

    def backward(self, dy):
        self.grad_weight = dy.T @ self.x
        self.grad_bias = dy.sum(axis=0)
        return dy @ self.projected
