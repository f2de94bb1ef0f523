# bug: dx lacks the projection on x̂; its rows sum to zero all the same
# caught by: gradients, gradient_identities, cancellation, gradient_cost
import numpy as np


class LayerNorm:
    def __init__(self, dim, eps=1e-5):
        self.gamma, self.beta, self.eps = np.ones(dim), np.zeros(dim), eps

    def forward(self, x):
        mu = x.mean(-1, keepdims=True)
        self.inv = 1 / np.sqrt(((x - mu) ** 2).mean(-1, keepdims=True) + self.eps)
        self.xhat = (x - mu) * self.inv
        return self.gamma * self.xhat + self.beta

    def backward(self, dout):
        self.dgamma = (dout * self.xhat).sum(axis=(0, 1))
        self.dbeta = dout.sum(axis=(0, 1))
        g = dout * self.gamma
        return self.inv * (g - g.mean(-1, keepdims=True))
