# style: buffers of the layer's own, codes and scales kept until a flag says that the weights have changed
# only: projection, ste
import numpy as np


class TernaryLinear:
    __slots__ = ("b", "codes", "db", "dirty", "dw", "edges", "scales", "w", "x")

    def __init__(self, w, b):
        self.w, self.b = w, b
        self.edges = np.arange(0, w.shape[1], 128)
        self.codes = np.empty(w.shape, np.int8)
        self.scales = np.empty((w.shape[0], len(self.edges)))
        self.dirty = True

    def spread(self):
        return np.repeat(self.scales, np.diff(np.append(self.edges, self.w.shape[1])), axis=1)

    def packed(self):
        if self.dirty:
            for g, (a, z) in enumerate(zip(self.edges, [*self.edges[1:], self.w.shape[1]])):
                self.scales[:, g] = np.abs(self.w[:, a:z]).mean(axis=1)
            half = self.spread() / 2
            np.subtract(self.w > half, self.w < -half, out=self.codes, dtype=np.int8)
            self.dirty = False
        return self.spread() * self.codes

    def forward(self, x):
        self.x = x
        return x @ self.packed().T + self.b

    def backward(self, dy):
        self.dw, self.db = dy.T @ self.x, dy.sum(axis=0)
        return dy @ self.packed()

    def apply_update(self, delta_w, delta_b):
        self.w += delta_w
        self.b += delta_b
        self.dirty = True
