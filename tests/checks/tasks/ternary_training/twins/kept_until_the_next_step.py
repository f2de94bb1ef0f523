# right: calls that do not train share what was projected last, which each step drops
# only: projection, ste, purity
import numpy as np


class TernaryLinear:
    def __init__(self, fan_in, fan_out, seed=2):
        self.latent = np.random.default_rng(seed).normal(0.0, fan_in**-0.5, (fan_out, fan_in))
        self.kept = None

    def project(self):
        out = np.empty_like(self.latent)
        for a in range(0, out.shape[1], 128):
            w = self.latent[:, a : a + 128]
            s = np.abs(w).mean(axis=1, keepdims=True)
            out[:, a : a + 128] = s * np.clip(np.round(w / np.where(s > 0, s, 1.0)), -1, 1)
        return out

    def forward(self, x, training=True):
        if training:
            self.x, self.used = x, self.project()
            return x @ self.used.T
        if self.kept is None:
            self.kept = self.project()
        return x @ self.kept.T

    def backward(self, dy):
        self.dlatent = dy.T @ self.x
        return dy @ self.used

    def step(self, lr):
        self.latent -= lr * self.dlatent
        self.kept = None


def run(layer, x, target, held, held_target, steps=50):
    errors = []
    for _ in range(steps):
        error = layer.forward(x) - target
        layer.backward(error / len(x))
        layer.step(0.1)
        errors.append(float(((layer.forward(held, training=False) - held_target) ** 2).mean()))
    return errors
