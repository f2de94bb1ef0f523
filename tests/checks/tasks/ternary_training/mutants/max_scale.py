# bug: s = max|W| of the group
# caught by: projection
# passes: ste
import numpy as np


def ternary_quantize(w, group_size=128):
    out = np.empty_like(w)
    for i in range(0, w.shape[1], group_size):
        g = w[:, i:i + group_size]
        s = np.max(np.abs(g), axis=1, keepdims=True)
        s = np.where(s == 0, 1.0, s)
        out[:, i:i + group_size] = np.round(g / s) * s
    return out


class TernaryLinear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = np.random.default_rng(0).standard_normal((out_features, in_features))
        self.bias = np.zeros(out_features) if bias else None

    def forward(self, x):
        self.x, self.wq = x, ternary_quantize(self.weight)
        return x @ self.wq.T + self.bias

    def backward(self, dy):
        self.grad_weight = dy.T @ self.x
        self.grad_bias = dy.sum(axis=0)
        return dy @ self.wq
