# bug: the projection is kept as long as the array of the weights is the same, whatever is written into it
# caught by: projection (warn)
# only: projection, ste
import numpy as np


def project(w):
    q = np.empty_like(w)
    for start in range(0, w.shape[1], 128):
        part = w[:, start : start + 128]
        s = np.abs(part).mean(axis=1, keepdims=True)
        q[:, start : start + 128] = s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1)
    return q


class Quantized:
    """y = x Q^T + b; Q is s * clip(round(W / s), -1, 1), s = mean|W| of 128 weights of a row."""

    def __init__(self, width, out, seed=0):
        rng = np.random.default_rng(seed)
        self.weight = rng.normal(0.0, width**-0.5, (out, width))
        self.bias = np.zeros(out)
        self.weight_grad = np.zeros_like(self.weight)
        self.bias_grad = np.zeros_like(self.bias)
        self.known = self.kept = None

    def projected(self):
        if self.known is not self.weight:
            self.known, self.kept = self.weight, project(self.weight)
        return self.kept

    def forward(self, x):
        self.x, self.q = x, self.projected()
        return x @ self.q.T + self.bias

    def backward(self, dy):
        self.weight_grad = dy.T @ self.x
        self.bias_grad = dy.sum(axis=0)
        return dy @ self.q

    def places(self):
        return [(self, "weight"), (self, "bias")]


class Sgd:
    def __init__(self, places, rate=0.1):
        self.places, self.rate = places, rate

    def walk(self):
        for owner, name in self.places:
            moved = getattr(owner, name) - self.rate * getattr(owner, name + "_grad")
            setattr(owner, name, moved)
