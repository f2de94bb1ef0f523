# style: a layer that is frozen for use answers by codes and scales
# only: projection, ste
import numpy as np

GROUP = 128


def project(w):
    q = np.empty_like(w)
    for at in range(0, w.shape[1], GROUP):
        part = w[:, at : at + GROUP]
        s = np.abs(part).mean(axis=1, keepdims=True)
        q[:, at : at + GROUP] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return q


class Ternary:
    """y = x Q^T + b with Q the projection of the latent weights, group by group along a row."""

    def __init__(self, width, out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(0.0, width**-0.5, (out, width))
        self.bias = np.zeros(out)
        self.frozen = None

    def forward(self, x):
        self.x, self.q = x, project(self.weight) if self.frozen is None else self.frozen
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.dweight = dy.T @ self.x
        self.dbias = dy.sum(axis=0)
        return dy @ self.q

    def step(self, lr):
        self.weight -= lr * self.dweight
        self.bias -= lr * self.dbias

    def codes(self):
        """Levels (out, in) as int8, and scales (out, groups)."""
        width = self.weight.shape[1]
        groups = [np.abs(self.weight[:, at : at + GROUP]).mean(axis=1) for at in range(0, width, GROUP)]
        scales = np.stack(groups, axis=1)
        spread = np.repeat(scales, GROUP, axis=1)[:, :width]
        return np.sign(project(self.weight)).astype(np.int8), scales, spread

    def freeze(self):
        """From now on the layer answers by its codes."""
        levels, _scales, spread = self.codes()
        self.frozen = levels * spread
