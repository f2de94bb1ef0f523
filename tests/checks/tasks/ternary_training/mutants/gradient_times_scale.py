# bug: the gradient of the levels handed on as that of the weights: multiplied by the scale
# caught by: ste
# passes: projection
import numpy as np


class BitLinear:
    def __init__(self, in_features, out_features, group_size=128, seed=0):
        self.g = group_size
        self.latent = np.random.default_rng(seed).normal(0, 1, (out_features, in_features))
        self.bias = np.zeros(out_features)

    def _decompose(self):
        s = np.concatenate([
            np.broadcast_to(np.abs(part).mean(axis=1, keepdims=True), part.shape)
            for part in np.split(self.latent, range(self.g, self.latent.shape[1], self.g), axis=1)
        ], axis=1)
        t = np.clip(np.round(np.divide(self.latent, s, out=np.zeros_like(s), where=s > 0)), -1, 1)
        return s, t

    def forward(self, x):
        self.x = x
        self.s, self.t = self._decompose()
        return x @ (self.s * self.t).T + self.bias

    def backward(self, grad_out):
        self.latent_grad = (grad_out.T @ self.x) * self.s
        self.bias_grad = grad_out.sum(axis=0)
        return grad_out @ (self.s * self.t)
