# bug: Adam divides by its second moment, and not by its root
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

    def parameters(self):
        return [(self, "weight"), (self, "bias")]


class Adam:
    def __init__(self, parameters, lr=0.002, betas=(0.9, 0.99), eps=1e-8):
        self.parameters, self.lr, self.betas, self.eps, self.t = parameters, lr, betas, eps, 0
        self.m = [np.zeros_like(getattr(o, n)) for o, n in parameters]
        self.v = [np.zeros_like(getattr(o, n)) for o, n in parameters]

    def step(self):
        self.t += 1
        b1, b2 = self.betas
        for i, (o, n) in enumerate(self.parameters):
            g = getattr(o, "d" + n)
            self.m[i] = b1 * self.m[i] + (1 - b1) * g
            self.v[i] = b2 * self.v[i] + (1 - b2) * g * g
            v = self.v[i] / (1 - b2**self.t)
            setattr(o, n, getattr(o, n) - self.lr * (self.m[i] / (1 - b1**self.t)) / (v + self.eps))
