# bug: the object keeps x − mean although only x̂ is used
# caught by: cache_minimality
import numpy as np


class LayerNorm:
    def __init__(self, features, eps=1e-5):
        self.gamma = np.ones(features)
        self.beta = np.zeros(features)
        self.eps = eps

    def forward(self, x):
        self.x_centered = x - x.mean(-1, keepdims=True)
        self.rstd = 1 / np.sqrt((self.x_centered**2).mean(-1, keepdims=True) + self.eps)
        self.xhat = self.x_centered * self.rstd
        return self.gamma * self.xhat + self.beta

    def backward(self, dy):
        g = dy * self.gamma
        dx = self.rstd * (g - g.mean(-1, keepdims=True) - self.xhat * (g * self.xhat).mean(-1, keepdims=True))
        return dx, (dy * self.xhat).sum((0, 1)), dy.sum((0, 1))
