# bug: no gradient where |W| is over the scale
# caught by: ste
# passes: projection
import numpy as np


def scales_of(w, g=128):
    s = np.empty_like(w)
    for i in range(0, w.shape[1], g):
        s[:, i:i + g] = np.abs(w[:, i:i + g]).mean(axis=1, keepdims=True)
    return s


class TernaryLinear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = np.random.default_rng(0).standard_normal((out_features, in_features))
        self.bias = np.zeros(out_features)

    def forward(self, x):
        s = scales_of(self.weight)
        self.x, self.s = x, s
        self.wq = np.clip(np.round(self.weight / np.maximum(s, 1e-12)), -1, 1) * s
        return x @ self.wq.T + self.bias

    def backward(self, dy):
        self.grad_weight = (dy.T @ self.x) * (np.abs(self.weight) <= self.s)
        self.grad_bias = dy.sum(axis=0)
        return dy @ self.wq
