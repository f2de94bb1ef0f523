# bug: the backward divides by the length of x − mean, which may be zero
# caught by: degenerate
import numpy as np


class LN:
    def __init__(self, dim):
        self.gamma, self.beta, self.eps = np.ones(dim), np.zeros(dim), 1e-5

    def __call__(self, x):
        self.c = x - x.mean(-1, keepdims=True)
        self.var = (self.c**2).mean(-1, keepdims=True)
        return self.gamma * self.c / np.sqrt(self.var + self.eps) + self.beta

    def backward(self, dy):
        rstd = 1 / np.sqrt(self.var + self.eps)
        unit = self.c / np.linalg.norm(self.c, axis=-1, keepdims=True)
        g = dy * self.gamma
        along = (g * unit).sum(-1, keepdims=True) * self.var * rstd**2
        dx = rstd * (g - g.mean(-1, keepdims=True) - unit * along)
        return dx, (dy * self.c * rstd).sum((0, 1)), dy.sum((0, 1))
