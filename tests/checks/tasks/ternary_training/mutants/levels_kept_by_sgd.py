# bug: sgd changes the array in place, so that the codes, kept for that array object, stay; the scale is fresh
# caught by: projection
# only: projection
import numpy as np


class BitLinear:
    """y = x W + b with W (in, out) in groups of 128 of its inputs."""

    def __init__(self, W, b):
        self.W = W
        self.b = b
        self.coded, self.codes = None, None

    def group_means(self):
        edges = np.arange(0, self.W.shape[0], 128)
        sizes = np.diff(np.r_[edges, self.W.shape[0]])
        means = np.add.reduceat(np.abs(self.W), edges, axis=0) / sizes[:, None]
        return np.repeat(means, sizes, axis=0)

    def ternary(self):
        s = self.group_means()
        if self.coded is not self.W:
            self.codes = np.sign(self.W) * (2 * np.abs(self.W) >= s)
            self.coded = self.W
        return s * self.codes

    def forward(self, x):
        self.x, self.q = x, self.ternary()
        return x @ self.q + self.b

    def backward(self, dy):
        self.dW, self.db = self.x.T @ dy, dy.sum(0)
        return dy @ self.q.T


def sgd(layer, lr=0.1):
    layer.W -= lr * layer.dW
    layer.b -= lr * layer.db
