# bug: (out, in) weights grouped along the outputs: neither along the inputs nor consecutive in memory
# caught by: projection
# passes: ste
import numpy as np


def absmean(W, group_size=128):
    out = np.zeros_like(W)
    for start in range(0, W.shape[0], group_size):
        block = W[start:start + group_size, :]
        s = np.abs(block).mean(axis=0, keepdims=True)
        out[start:start + group_size, :] = np.clip(np.round(block / (s + 1e-12)), -1, 1) * s
    return out


class TernaryLinear:
    def __init__(self, in_features, out_features):
        self.weight = np.zeros((out_features, in_features))
        self.bias = np.zeros(out_features)

    def forward(self, x):
        wq = absmean(self.weight)
        return x @ wq.T + self.bias, (x, wq)

    def backward(self, dy, cache):
        x, wq = cache
        return dy @ wq, dy.T @ x, dy.sum(axis=0)
