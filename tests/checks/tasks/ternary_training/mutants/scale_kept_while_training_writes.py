# bug: training changes W in place and drops the levels; the scale, kept beside them, nobody drops
# caught by: projection
# only: projection
import numpy as np


class TernaryLinear:
    def __init__(self, W, b):
        self.W, self.b = W, b
        self.levels = self.s = None

    def mean_abs(self):
        if self.s is None:
            bounds = range(0, self.W.shape[1], 128)
            self.s = np.hstack([np.abs(self.W[:, i:i + 128]).mean(1, keepdims=True) for i in bounds])
        return np.repeat(self.s, 128, axis=1)[:, :self.W.shape[1]]

    def effective(self):
        s = self.mean_abs()
        if self.levels is None:
            self.levels = np.clip(np.rint(self.W / np.where(s > 0, s, 1)), -1, 1)
        return s * self.levels

    def forward(self, x):
        self.x = x
        return x @ self.effective().T + self.b

    def backward(self, dy):
        self.dW, self.db = dy.T @ self.x, dy.sum(0)
        return dy @ self.effective()


def train(layer, batches, lr=0.05):
    for x, target in batches:
        error = layer.forward(x) - target
        layer.backward(error / len(x))
        layer.W -= lr * layer.dW
        layer.b -= lr * layer.db
        layer.levels = None
