# right: evaluation multiplies by its projected weights in half precision, anew each time; training in double
# only: projection, ste, purity
import numpy as np


class TernaryLayer:
    def __init__(self, n_in, n_out, group=128, seed=0):
        self.W = np.random.default_rng(seed).standard_normal((n_out, n_in)) / np.sqrt(n_in)
        self.group, self.training, self.half = group, True, None

    def train(self):
        self.training, self.half = True, None

    def eval(self):
        self.training, self.half = False, self.project().astype(np.float16)

    def project(self):
        parts = []
        for first in range(0, self.W.shape[1], self.group):
            part = self.W[:, first : first + self.group]
            s = np.abs(part).mean(1, keepdims=True)
            parts.append(s * np.clip(np.round(part / np.where(s > 0, s, 1.0)), -1, 1))
        return np.concatenate(parts, axis=1)

    def forward(self, x):
        self.x, self.used = x, self.project() if self.training else self.half.astype(float)
        return x @ self.used.T

    def backward(self, dy):
        self.dW = dy.T @ self.x
        return dy @ self.used

    def step(self, lr):
        self.W -= lr * self.dW
