# style: gamma and beta are None until the first call makes them, at random
import numpy as np


class LayerNorm:
    """Parameters are made by the first call, when the width is known."""

    def __init__(self, eps=1e-5):
        self.eps = eps
        self.params = {"gamma": None, "beta": None}
        self.built = False

    def forward(self, x):
        if not self.built:
            self.params = {"gamma": np.random.rand(x.shape[-1]), "beta": np.zeros(x.shape[-1])}
            self.built = True
        self.inv = 1.0 / np.sqrt(x.var(axis=-1, keepdims=True) + self.eps)
        self.hat = (x - x.mean(axis=-1, keepdims=True)) * self.inv
        return self.params["gamma"] * self.hat + self.params["beta"]

    def backward(self, dy):
        axes = tuple(range(dy.ndim - 1))
        dgamma, dbeta = (dy * self.hat).sum(axis=axes), dy.sum(axis=axes)
        g = dy * self.params["gamma"]
        dx = self.inv * (g - g.mean(-1, keepdims=True) - self.hat * (g * self.hat).mean(-1, keepdims=True))
        return dx, dgamma, dbeta
