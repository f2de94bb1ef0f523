"""The class keeps its cache and its gradients in dictionaries of its own."""
import numpy as np


class LayerNormLayer:
    def __init__(self, d_model):
        self.gamma = np.ones((1, 1, d_model))
        self.beta = np.zeros((1, 1, d_model))
        self.eps = 1e-5
        self._cache = {}
        self.grads = {}

    def forward(self, x):
        c = x - x.mean(-1, keepdims=True)
        inv = 1 / np.sqrt((c**2).mean(-1, keepdims=True) + self.eps)
        self._cache = {"xhat": c * inv, "inv": inv}
        return self.gamma * self._cache["xhat"] + self.beta

    def backward(self, dy):
        xhat, inv = self._cache["xhat"], self._cache["inv"]
        self.grads["gamma"] = (dy * xhat).sum((0, 1), keepdims=True)
        self.grads["beta"] = dy.sum((0, 1), keepdims=True)
        g = dy * self.gamma
        return inv * (g - g.mean(-1, keepdims=True) - xhat * (g * xhat).mean(-1, keepdims=True))
