# bug: from 600 positions on dgamma is summed in two halves, and the row between them is counted twice
# caught by: gradients
import numpy as np


class LayerNorm:
    def __init__(self, gamma, beta, eps=1e-5, long_from=600):
        self.gamma, self.beta, self.eps, self.long_from = gamma, beta, eps, long_from

    def forward(self, x):
        self.rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + self.eps)
        self.xhat = (x - x.mean(-1, keepdims=True)) * self.rstd
        return self.gamma * self.xhat + self.beta

    def backward(self, dy):
        g = dy * self.gamma
        dx = self.rstd * (
            g - g.mean(-1, keepdims=True) - self.xhat * (g * self.xhat).mean(-1, keepdims=True)
        )
        weighted = dy * self.xhat
        if dy.shape[1] >= self.long_from:
            half = dy.shape[1] // 2
            parts = weighted[:, : half + 1].sum((0, 1)), weighted[:, half:].sum((0, 1))
            return dx, parts[0] + parts[1], dy.sum((0, 1))
        return dx, weighted.sum((0, 1)), dy.sum((0, 1))
