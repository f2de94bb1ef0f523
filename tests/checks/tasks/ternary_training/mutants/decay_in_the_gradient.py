# bug: a hundredth of the latent weights is in their gradient
# caught by: ste
# passes: projection
# only: projection, ste
import numpy as np


def ternarize(latent, group=128):
    """s * {-1, 0, 1} by groups of each row."""
    out = np.empty_like(latent)
    for at in range(0, latent.shape[1], group):
        part = latent[:, at : at + group]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, at : at + group] = s * np.sign(part) * (np.abs(part) > s / 2)
    return out


class TernaryLinear:
    """Latent weights (out, in), straight-through gradients."""

    def __init__(self, n_in, n_out, rng=None):
        rng = rng or np.random.default_rng(0)
        self.weight = rng.standard_normal((n_out, n_in)) * n_in**-0.5

    def forward(self, x):
        self.x = x
        self.projected = ternarize(self.weight)
        return x @ self.projected.T

    def backward(self, dy):
        grad = dy.T @ self.x
        self.grad = grad + 0.01 * self.weight
        return dy @ self.projected
