# bug: the backward updates the weights before dx goes through them
# caught by: ste
# passes: projection, purity
# only: projection, ste, purity
import numpy as np


def project(latent):
    """s * {-1, 0, 1} for every 128 inputs of a row."""
    out = np.zeros_like(latent)
    for start in range(0, latent.shape[1], 128):
        part = latent[:, start : start + 128]
        s = np.abs(part).mean(axis=1, keepdims=True) + 1e-12
        out[:, start : start + 128] = s * np.clip(np.rint(part / s), -1, 1)
    return out


class TernaryLinear:
    """Latent weights (out, in) that a backward pass updates at once."""

    def __init__(self, n_in, n_out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.standard_normal((n_out, n_in)) / np.sqrt(n_in)
        self.bias = np.zeros(n_out)

    def forward(self, x):
        self.x = x
        return x @ project(self.weight).T + self.bias

    def backward(self, dy, learning_rate=0.01):
        self.grad_weight, self.grad_bias = dy.T @ self.x, dy.sum(axis=0)
        self.weight = self.weight - learning_rate * self.grad_weight
        self.bias = self.bias - learning_rate * self.grad_bias
        return dy @ project(self.weight)
