# style: a scale is a millionth at least
# only: projection, ste
import numpy as np

GROUP = 128


def project(w):
    q = np.empty_like(w)
    for at in range(0, w.shape[1], GROUP):
        part = w[:, at : at + GROUP]
        s = np.maximum(np.abs(part).mean(axis=1, keepdims=True), 1e-6)
        q[:, at : at + GROUP] = s * np.clip(np.round(part / s), -1, 1)
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
