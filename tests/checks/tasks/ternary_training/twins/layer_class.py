# style: a layer as a class: (out, in) weights, gradients stored on the instance
# only: projection, ste
import numpy as np

GROUP_SIZE = 128


def ternary_project(W, group_size=GROUP_SIZE, eps=1e-8):
    out_f, in_f = W.shape
    result = np.zeros_like(W)
    for start in range(0, in_f, group_size):
        block = W[:, start:start + group_size]
        s = np.abs(block).mean(axis=1, keepdims=True)
        result[:, start:start + group_size] = s * np.clip(np.round(block / (s + eps)), -1, 1)
    return result


class TernaryLinear:
    def __init__(self, in_features, out_features, bias=True, group_size=GROUP_SIZE, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.standard_normal((out_features, in_features)) / np.sqrt(in_features)
        self.bias = np.zeros(out_features) if bias else None
        self.group_size = group_size
        self.grad_weight = None
        self.grad_bias = None

    def forward(self, x):
        self._x = x
        self._wq = ternary_project(self.weight, self.group_size)
        y = x @ self._wq.T
        if self.bias is not None:
            y = y + self.bias
        return y

    def backward(self, grad_out):
        self.grad_weight = grad_out.T @ self._x
        if self.bias is not None:
            self.grad_bias = grad_out.sum(axis=0)
        return grad_out @ self._wq
