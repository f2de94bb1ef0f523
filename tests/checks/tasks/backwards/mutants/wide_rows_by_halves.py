# bug: rows wider than 64 are normalized by the mean of their first 64 features
# caught by: forward_accuracy, gradients
import numpy as np


class LayerNorm:
    def __init__(self, dim, eps=1e-5):
        self.gamma = np.ones(dim)
        self.beta = np.zeros(dim)
        self.eps = eps

    def forward(self, x):
        mean = x[..., :64].mean(axis=-1, keepdims=True)
        var = np.square(x - mean).mean(axis=-1, keepdims=True)
        self.rstd = 1.0 / np.sqrt(var + self.eps)
        self.xhat = (x - mean) * self.rstd
        return self.gamma * self.xhat + self.beta

    def backward(self, dout):
        self.dgamma = np.einsum("btd,btd->d", dout, self.xhat)
        self.dbeta = np.einsum("btd->d", dout)
        g = dout * self.gamma
        along = (g * self.xhat).mean(axis=-1, keepdims=True)
        return self.rstd * (g - g.mean(axis=-1, keepdims=True) - self.xhat * along)
