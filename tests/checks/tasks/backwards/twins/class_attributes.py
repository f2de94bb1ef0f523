"""A module that makes its parameters itself; gradients of the parameters are left on it."""
import numpy as np


class LayerNorm:
    def __init__(self, normalized_shape, eps=1e-5):
        self.eps = eps
        self.weight = np.ones(normalized_shape)
        self.bias = np.zeros(normalized_shape)
        self.grad_weight = None
        self.grad_bias = None

    def __call__(self, x):
        return self.forward(x)

    def forward(self, x):
        centered = x - x.mean(-1, keepdims=True)
        self.inv_std = (np.square(centered).mean(-1, keepdims=True) + self.eps) ** -0.5
        self.normalized = centered * self.inv_std
        return self.weight * self.normalized + self.bias

    def backward(self, grad_output):
        rows = tuple(range(grad_output.ndim - 1))
        self.grad_weight = np.sum(grad_output * self.normalized, axis=rows)
        self.grad_bias = np.sum(grad_output, axis=rows)
        g = grad_output * self.weight
        g = g - g.mean(-1, keepdims=True) - self.normalized * (g * self.normalized).mean(-1, keepdims=True)
        return g * self.inv_std
