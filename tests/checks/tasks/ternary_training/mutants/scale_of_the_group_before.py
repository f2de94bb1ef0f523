# bug: a group is projected with the scale of the group before it
# caught by: projection
# passes: ste
# only: projection, ste
import numpy as np


def ternarize(latent, size=128):
    """s * {-1, 0, 1} by groups of each row."""
    starts = range(0, latent.shape[1], size)
    scales = [np.abs(latent[:, at : at + size]).mean(axis=1, keepdims=True) for at in starts]
    parts = []
    for number, at in enumerate(starts):
        s = scales[max(number - 1, 0)]
        parts.append(s * np.clip(np.rint(latent[:, at : at + size] / s), -1, 1))
    return np.concatenate(parts, axis=1)


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
        self.grad = dy.T @ self.x
        return dy @ self.projected
