# bug: the groups are views of the first array, which the step replaces by another
# caught by: projection
# passes: ste
# only: projection, ste
import numpy as np


class TernaryLinear:
    """Latent weights (out, in), whose groups are views."""

    def __init__(self, n_in, n_out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.standard_normal((n_out, n_in)) / np.sqrt(n_in)
        self.parts = [self.weight[:, at : at + 128] for at in range(0, n_in, 128)]

    def forward(self, x):
        projected = []
        for part in self.parts:
            s = np.abs(part).mean(axis=1, keepdims=True)
            projected.append(s * np.clip(np.rint(part / np.where(s > 0, s, 1.0)), -1, 1))
        self.x, self.projected = x, np.concatenate(projected, axis=1)
        return x @ self.projected.T

    def backward(self, dy):
        self.grad = dy.T @ self.x
        return dy @ self.projected

    def step(self, lr=0.1):
        self.weight = self.weight - lr * self.grad
