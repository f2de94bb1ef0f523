# bug: the levels are divided by their scale instead of multiplied
# caught by: projection
"""A ternary layer in plain NumPy: codes and scales apart, put together when they are needed."""
import numpy as np

GROUP = 128


def codes_and_scales(weight):
    """(out, in) → codes in {-1, 0, 1} and one scale per group of 128 inputs, both (out, in)."""
    codes, scales = np.zeros_like(weight), np.ones_like(weight)
    for start in range(0, weight.shape[1], GROUP):
        part = weight[:, start:start + GROUP]
        scale = np.abs(part).mean(axis=1, keepdims=True)
        safe = np.where(scale > 0, scale, 1.0)
        codes[:, start:start + GROUP] = np.clip(np.rint(part / safe), -1, 1)
        scales[:, start:start + GROUP] = safe
    return codes, scales


class TernaryLinear:
    def __init__(self, in_features, out_features, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(0.0, in_features**-0.5, (out_features, in_features))
        self.grad = np.zeros_like(self.weight)

    def project(self):
        codes, scales = codes_and_scales(self.weight)
        return codes / scales

    def forward(self, x):
        self.x, self.projected = x, self.project()
        return x @ self.projected.T

    def backward(self, dy):
        self.grad[...] = dy.reshape(-1, dy.shape[-1]).T @ self.x.reshape(-1, self.x.shape[-1])
        return dy @ self.projected
