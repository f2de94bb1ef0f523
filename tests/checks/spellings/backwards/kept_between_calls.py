"""Bound methods of one module-level object stand as functions."""
import numpy as np


class _Norm:
    def forward(self, x, gamma, beta, eps=1e-5):
        mu = x.mean(-1, keepdims=True)
        self.rstd = 1.0 / np.sqrt(x.var(-1, keepdims=True) + eps)
        self.xhat = (x - mu) * self.rstd
        self.gamma = gamma
        return self.xhat * gamma + beta

    def backward(self, dy):
        g = dy * self.gamma
        dx = self.rstd * (g - g.mean(-1, keepdims=True) - self.xhat * (g * self.xhat).mean(-1, keepdims=True))
        return dx, (dy * self.xhat).sum((0, 1)), dy.sum((0, 1))


_norm = _Norm()
layer_norm_forward = _norm.forward
layer_norm_backward = _norm.backward
