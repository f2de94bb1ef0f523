# bug: an evaluation after an update renews the rows and marks both copies as new; backward reads the old columns
# caught by: projection
# passes: ste
# only: projection, ste
import numpy as np

GROUP = 128


def project(latent):
    """s * {-1, 0, 1} for every 128 inputs of a row, s = mean|W|."""
    out = np.zeros_like(latent)
    for start in range(0, latent.shape[1], GROUP):
        part = latent[:, start : start + GROUP]
        s = np.abs(part).mean(axis=1, keepdims=True) + 1e-12
        out[:, start : start + GROUP] = s * np.clip(np.rint(part / s), -1, 1)
    return out


class TernaryLinear:
    """Latent weights (out, in); their projection is kept by rows for forward and by columns for backward."""

    def __init__(self, in_features, out_features, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.standard_normal((out_features, in_features)) / np.sqrt(in_features)
        self.bias = np.zeros(out_features)
        self.rows = self.columns = None
        self.training = True
        self.changed = True

    def train(self):
        self.training = True

    def eval(self):
        self.training = False

    def forward(self, x):
        if self.changed:
            self.rows = project(self.weight)
            if self.training:
                self.columns = self.rows.T.copy()
            self.changed = False
        self.x = x
        return x @ self.rows.T + self.bias

    def backward(self, dy):
        self.grad_weight = dy.T @ self.x
        self.grad_bias = dy.sum(axis=0)
        return dy @ self.columns.T

    def step(self, lr):
        self.weight = self.weight - lr * self.grad_weight
        self.bias = self.bias - lr * self.grad_bias
        self.changed = True
