# style: a small library: a dense layer, an RMS norm and a layer norm; its parameters are made at the first call
import numpy as np


class Dense:
    def __init__(self, outputs):
        self.outputs, self.weights = outputs, None

    def forward(self, x):
        if self.weights is None:
            self.weights = np.random.randn(x.shape[-1], self.outputs) / np.sqrt(x.shape[-1])
        self.x = x
        return x @ self.weights

    def backward(self, grad):
        self.grad_weights = self.x.reshape(-1, self.x.shape[-1]).T @ grad.reshape(-1, grad.shape[-1])
        return grad @ self.weights.T


class RMSNorm:
    def __init__(self, eps=1e-6):
        self.eps, self.params = eps, {"gain": None}

    def forward(self, x):
        if self.params["gain"] is None:
            self.params["gain"] = np.ones(x.shape[-1])
        self.x = x
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + self.eps) * self.params["gain"]


class LayerNormalization:
    def __init__(self, eps=1e-5):
        self.eps, self.params, self.grads = eps, {"gamma": None, "beta": None}, {}

    def forward(self, x):
        if self.params["gamma"] is None:
            self.params = {"gamma": np.ones(x.shape[-1]), "beta": np.zeros(x.shape[-1])}
        self.rstd = 1 / np.sqrt(x.var(-1, keepdims=True) + self.eps)
        self.xhat = (x - x.mean(-1, keepdims=True)) * self.rstd
        return self.params["gamma"] * self.xhat + self.params["beta"]

    def backward(self, grad):
        rows = tuple(range(grad.ndim - 1))
        self.grads = {"gamma": (grad * self.xhat).sum(rows), "beta": grad.sum(rows)}
        g = grad * self.params["gamma"]
        projected = self.xhat * (g * self.xhat).mean(-1, keepdims=True)
        return self.rstd * (g - g.mean(-1, keepdims=True) - projected)
