# style: numbers of the input are dropped at random in training, a tenth by default
# only: projection, ste, purity
import numpy as np


def ternarize(latent, size=128):
    out = np.empty_like(latent)
    for at in range(0, latent.shape[1], size):
        part = latent[:, at : at + size]
        s = np.abs(part).mean(axis=1, keepdims=True)
        out[:, at : at + size] = s * np.clip(np.rint(part / np.where(s > 0, s, 1)), -1, 1)
    return out


class TernaryLinear:
    """A linear layer of ternary weights, with dropout in front of it."""

    def __init__(self, n_in, n_out, dropout=0.1, seed=0):
        self.rng = np.random.default_rng(seed)
        self.weight = self.rng.standard_normal((n_out, n_in)) * n_in**-0.5
        self.dropout, self.training = dropout, True

    def eval(self):
        self.training = False

    def train(self):
        self.training = True

    def forward(self, x):
        self.x = x
        if self.training and self.dropout:
            self.keep = (self.rng.random(x.shape) >= self.dropout) / (1 - self.dropout)
        else:
            self.keep = np.ones_like(x)
        self.projected = ternarize(self.weight)
        return (x * self.keep) @ self.projected.T

    def backward(self, dy):
        self.grad = dy.T @ (self.x * self.keep)
        return (dy @ self.projected) * self.keep
