# bug: what is exported for use packs four codes lowest first, and unpacks them highest first
# caught by: projection
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

    def forward(self, x):
        self.x, self.q = x, project(self.weight)
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.dweight = dy.T @ self.x
        self.dbias = dy.sum(axis=0)
        return dy @ self.q

    def step(self, lr):
        self.weight -= lr * self.dweight
        self.bias -= lr * self.dbias

    def export(self):
        """What answers in use: four codes to a byte, and scales."""
        width = self.weight.shape[1]
        groups = [np.abs(self.weight[:, at : at + GROUP]).mean(axis=1) for at in range(0, width, GROUP)]
        levels = np.sign(project(self.weight)).astype(np.int8)
        return Packed(levels, np.stack(groups, axis=1), self.bias.copy())


class Packed:
    """A layer for use: (out, in) codes, four of a row to a byte, and a scale for each 128."""

    def __init__(self, levels, scales, bias):
        self.width, self.scales, self.bias = levels.shape[1], scales, bias
        digits = np.pad(levels + 1, ((0, 0), (0, -self.width % 4))).astype(np.uint8)
        self.packed = sum(digits[:, at::4] << (2 * at) for at in range(4))

    def forward(self, x):
        digits = np.stack([(self.packed >> (2 * at)) & 3 for at in (3, 2, 1, 0)], axis=2)
        levels = digits.reshape(len(self.packed), -1)[:, : self.width].astype(np.float64) - 1.0
        return x @ (levels * np.repeat(self.scales, GROUP, axis=1)[:, : self.width]).T + self.bias
