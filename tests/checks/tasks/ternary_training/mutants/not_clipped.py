# bug: rounded and never clipped: levels ±2, ±3 for large weights
# caught by: projection
# passes: ste
import numpy as np


def project(w, group=128):
    cols = w.shape[1]
    groups = [w[:, i:i + group] for i in range(0, cols, group)]
    scales = [np.mean(np.abs(g), axis=1, keepdims=True) for g in groups]
    return np.hstack([np.round(g / np.maximum(s, 1e-9)) * s for g, s in zip(groups, scales)])


class QuantizedLinear:
    def __init__(self, d_in, d_out):
        self.W = np.random.default_rng(3).normal(0, 0.05, (d_out, d_in))
        self.b = np.zeros(d_out)

    def forward(self, inputs):
        self.inputs = inputs
        self.Wq = project(self.W)
        return inputs @ self.Wq.T + self.b

    def backward(self, grad):
        self.dW = grad.T @ self.inputs
        self.db = grad.sum(0)
        return grad @ self.Wq
