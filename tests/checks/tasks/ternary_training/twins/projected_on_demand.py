# style: the training loop calls project() after each update; the layer itself never does after the first time
# warns: projection
# only: projection
import numpy as np


class TernaryLinear:
    def __init__(self, weight, bias):
        self.weight, self.bias = weight, bias
        self.project()

    def project(self):
        out_features, in_features = self.weight.shape
        padding = -in_features % 128
        padded = np.pad(self.weight, ((0, 0), (0, padding))).reshape(out_features, -1, 128)
        counts = np.full(padded.shape[1], 128)
        counts[-1] -= padding
        s = (np.abs(padded).sum(-1) / counts)[..., None]
        levels = np.where(np.abs(padded) > 0.5 * s, np.sign(padded), 0)
        self.quantized = (s * levels).reshape(out_features, -1)[:, :in_features].copy()

    def forward(self, x):
        self.x = x
        return x @ self.quantized.T + self.bias

    def backward(self, grad_output):
        self.weight_grad, self.bias_grad = grad_output.T @ self.x, grad_output.sum(0)
        return grad_output @ self.quantized

    def sgd_step(self, lr):
        self.weight -= lr * self.weight_grad
        self.bias -= lr * self.bias_grad


def train(layer, batches, lr=0.1, epochs=3):
    for _ in range(epochs):
        for x, target in batches:
            layer.backward(layer.forward(x) - target)
            layer.sgd_step(lr)
            layer.project()
