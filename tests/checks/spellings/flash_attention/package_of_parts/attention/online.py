import numpy as np


class OnlineSoftmax:
    """The running maximum, denominator and output of a block of rows."""

    def __init__(self, shape, width):
        self.m = np.full(shape, -np.inf)
        self.l = np.zeros(shape)
        self.o = np.zeros((*shape, width))

    def update(self, scores, values):
        m = np.maximum(self.m, scores.max(-1))
        base = np.where(np.isneginf(m), 0.0, m)
        p = np.exp(scores - base[..., None])
        c = np.exp(self.m - base)
        self.l = c * self.l + p.sum(-1)
        self.o = c[..., None] * self.o + p @ values
        self.m = m

    def result(self):
        return self.o / np.where(self.l > 0, self.l, 1.0)[..., None]
