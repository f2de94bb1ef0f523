import numpy as np
from base import Module


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-5):
        super().__init__()
        self.params["gamma"] = np.ones(normalized_shape)
        self.params["beta"] = np.zeros(normalized_shape)
        self.eps = eps

    def forward(self, x):
        mu = x.mean(-1, keepdims=True)
        rstd = 1.0 / np.sqrt(x.var(-1, keepdims=True) + self.eps)
        self.cache = ((x - mu) * rstd, rstd)
        return self.cache[0] * self.params["gamma"] + self.params["beta"]

    def backward(self, dout):
        xhat, rstd = self.cache
        self.grads["gamma"] = (dout * xhat).sum(axis=(0, 1))
        self.grads["beta"] = dout.sum(axis=(0, 1))
        g = dout * self.params["gamma"]
        return rstd * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
