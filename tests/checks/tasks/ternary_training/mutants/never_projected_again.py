# bug: the projection is made at the first forward and never again, whatever training does to the weights
# caught by: projection
# only: projection
import numpy as np


def groupwise(w, size=128):
    """s {-1, 0, 1} along the rows of w (in, out)."""
    pieces = np.split(w, range(size, len(w), size))
    means = [np.abs(piece).mean(axis=0) for piece in pieces]
    return np.vstack([np.sign(p) * m * (np.abs(p) > m / 2) for p, m in zip(pieces, means)])


class TernaryLinear:
    def __init__(self, kernel, bias):
        self.kernel, self.bias = kernel, bias
        self.ready = None

    def __call__(self, inputs):
        if self.ready is None:
            self.ready = groupwise(self.kernel)
        return inputs @ self.ready + self.bias, inputs

    def backward(self, dout, saved):
        return dout @ self.ready.T, saved.T @ dout, dout.sum(axis=0)


class SGD:
    def __init__(self, layers, lr):
        self.layers, self.lr = layers, lr

    def run(self, gradients):
        for layer, (dkernel, dbias) in zip(self.layers, gradients):
            layer.kernel -= self.lr * dkernel
            layer.bias -= self.lr * dbias
