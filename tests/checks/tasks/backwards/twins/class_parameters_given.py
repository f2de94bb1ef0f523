"""Parameters in the constructor, a cache beside y, gradients in a dict."""
import numpy as np


class LN:
    def __init__(self, gamma, beta, epsilon=1e-6):
        self.gamma, self.beta, self.epsilon = gamma, beta, epsilon

    def forward(self, x):
        mean = x.mean(axis=2)[..., None]
        var = ((x - mean) ** 2).mean(axis=2)[..., None]
        std = np.sqrt(var + self.epsilon)
        z = (x - mean) / std
        return z * self.gamma + self.beta, {"z": z, "std": std}

    def backward(self, dout, cache):
        z, std = cache["z"], cache["std"]
        dz = dout * self.gamma
        dx = (dz - dz.mean(2, keepdims=True) - z * (dz * z).mean(2, keepdims=True)) / std
        return {"dbeta": dout.sum((0, 1)), "dgamma": (dout * z).sum((0, 1)), "dx": dx}
