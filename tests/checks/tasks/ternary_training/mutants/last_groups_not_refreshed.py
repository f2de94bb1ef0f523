# bug: after a change of the weights all groups but the last of a row are projected anew
# caught by: projection
# only: projection
import numpy as np


class QuantLinear:
    def __init__(self, weights, group_size=128):
        self.weights = weights
        self.cache = np.empty(weights.shape)
        self.starts = list(range(0, weights.shape[1], group_size))
        self.ends = [*self.starts[1:], weights.shape[1]]
        self.refresh(*self.starts)

    def refresh(self, *starts):
        for start, end in zip(starts, self.ends):
            part = self.weights[:, start:end]
            s = abs(part).sum(1, keepdims=True) / (end - start)
            self.cache[:, start:end] = s * ((part > s / 2).astype(int) - (part < -s / 2))

    def forward(self, x):
        return x @ self.cache.T, x

    def backward(self, dy, saved):
        return dy @ self.cache, dy.T @ saved

    def apply_gradient(self, dw, lr=1e-2):
        self.weights -= lr * dw
        self.refresh(*self.starts[:-1])
