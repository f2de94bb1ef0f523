# bug: the update projects first and moves the weights then: the forward is one update behind
# caught by: projection
# only: projection
import numpy as np


def ternarize(v, width):
    """Groups of 128 of a row; the last is as short as it is."""
    rows = v.reshape(-1, width)
    out = np.zeros_like(rows)
    for k in range(0, width, 128):
        piece = rows[:, k:k + 128]
        mean = np.mean(np.abs(piece), axis=-1, keepdims=True)
        ratio = np.divide(piece, mean, out=np.zeros_like(piece), where=mean != 0)
        out[:, k:k + 128] = mean * np.clip(np.rint(ratio), -1, 1)
    return out


class TernaryDense:
    def __init__(self, weight, bias):
        self.latent, self.bias = weight, bias
        self.m = np.zeros_like(weight)
        self.projected = ternarize(weight, weight.shape[1])

    def forward(self, x):
        self.inputs = x
        return np.einsum("bi,oi->bo", x, self.projected) + self.bias

    def backward(self, dy):
        self.grad_latent = np.einsum("bo,bi->oi", dy, self.inputs)
        self.grad_bias = dy.sum(axis=0)
        return dy @ self.projected

    def update(self, learning_rate, momentum=0.9):
        self.m = momentum * self.m + self.grad_latent
        self.projected = ternarize(self.latent, self.latent.shape[1])
        self.latent = self.latent - learning_rate * self.m
        self.bias = self.bias - learning_rate * self.grad_bias
