# style: backward takes one thing whose name says nothing, and leaves the gradients in a tuple, beta's first
import numpy as np


class LayerNorm:
    def __init__(self, gamma, beta, eps=1e-5):
        self.gamma, self.beta, self.eps = gamma, beta, eps

    def forward(self, x):
        centered = x - x.mean(-1, keepdims=True)
        self.scale = 1 / np.sqrt((centered**2).mean(-1, keepdims=True) + self.eps)
        self.unit = centered * self.scale
        return self.unit * self.gamma + self.beta

    def backward(self, flow):
        rows = tuple(range(flow.ndim - 1))
        self.param_grads = (flow.sum(rows), (flow * self.unit).sum(rows))
        g = flow * self.gamma
        along = (g * self.unit).mean(-1, keepdims=True)
        return self.scale * (g - g.mean(-1, keepdims=True) - self.unit * along)
