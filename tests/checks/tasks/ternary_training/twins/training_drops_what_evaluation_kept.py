# right: what evaluation works on is kept until the layer trains again, by a loop that updates it from outside
# only: projection, ste, purity
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
        self.weight = np.random.default_rng(seed).normal(size=(out_features, in_features)) / np.sqrt(
            in_features
        )
        self.group_size = group_size
        self.frozen = None

    def train(self, mode=True):
        self.frozen = None if mode else self.ternary()
        return super().train(mode)

    def ternary(self):
        w = np.array(self.weight, dtype=float)
        for start in range(0, w.shape[1], self.group_size):
            part = w[:, start : start + self.group_size]
            s = np.abs(part).mean(axis=1, keepdims=True)
            part[...] = s * np.clip(np.round(part / np.where(s == 0, 1, s)), -1, 1)
        return w

    def forward(self, x):
        w = self.ternary() if self.training else self.frozen
        self.saved = x, w
        return x @ w.T

    def backward(self, grad):
        x, w = self.saved
        self.weight_grad = grad.T @ x
        return grad @ w


def fit(layer, x, target, steps=20, rate=0.05):
    losses = []
    for _ in range(steps):
        layer.train()
        error = layer.forward(x) - target
        layer.backward(error / len(x))
        layer.weight -= rate * layer.weight_grad
        layer.eval()
        losses.append(float((layer.forward(x) - target).__pow__(2).mean()))
    return losses
