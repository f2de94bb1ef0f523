import numpy as np


class RMSNorm:
    """eps is added to the root instead of to the mean square."""

    def __init__(self, eps):
        self.eps = eps

    def forward(self, x, gain):
        self.root = np.sqrt((x * x).mean(-1, keepdims=True))
        self.x, self.gain = x, gain
        return x / (self.root + self.eps) * gain

    def backward(self, dy):
        g = dy * self.gain
        scale = 1 / (self.root + self.eps)
        inner = (g * self.x).mean(-1, keepdims=True) * self.x / self.root
        return g * scale - inner * scale**2, (dy * self.x * scale).sum(0)
