# bug: a right projection that the layer's forward never calls
# caught by: projection
# passes: ste
import numpy as np


def ternary_project(w, group_size=128):
    out = np.zeros_like(w)
    for i in range(0, w.shape[1], group_size):
        g = w[:, i:i + group_size]
        s = np.abs(g).mean(1, keepdims=True)
        out[:, i:i + group_size] = np.clip(np.round(g / (s + 1e-12)), -1, 1) * s
    return out


class TernaryLinear:
    def __init__(self, in_features, out_features, rng):
        self.weight = rng.normal(size=(out_features, in_features))
        self.bias = np.zeros(out_features)

    def export(self):
        return ternary_project(self.weight)

    def forward(self, x):
        self._x = x
        return x @ self.weight.T + self.bias

    def backward(self, grad_output):
        self.weight_grad = grad_output.T @ self._x
        self.bias_grad = grad_output.sum(axis=0)
        return grad_output @ self.weight
