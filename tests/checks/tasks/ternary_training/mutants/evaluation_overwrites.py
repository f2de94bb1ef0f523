# bug: evaluation keeps its projected weights in the place of the latent ones
# caught by: projection
import numpy as np


class Module:
    training = True

    def train(self, mode=True):
        self.training = mode
        return self

    def eval(self):
        return self.train(False)


class BitLinear(Module):
    def __init__(self, in_features, out_features, group_size=128, seed=0):
        self.weight = np.random.default_rng(seed).normal(size=(out_features, in_features)) / np.sqrt(in_features)
        self.group_size = group_size

    def train(self, mode=True):
        if not mode:
            self.weight = self.ternary()
        return super().train(mode)

    def ternary(self):
        w = np.array(self.weight, dtype=float)
        for start in range(0, w.shape[1], self.group_size):
            part = w[:, start:start + self.group_size]
            s = np.abs(part).mean(axis=1, keepdims=True)
            part[...] = s * np.clip(np.round(part / np.where(s == 0, 1, s)), -1, 1)
        return w

    def forward(self, x):
        w = self.ternary()
        self.saved = x, w
        return x @ w.T

    def backward(self, grad):
        x, w = self.saved
        self.weight_grad = grad.T @ x
        return grad @ w
