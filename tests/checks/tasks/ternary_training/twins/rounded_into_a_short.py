# style: rounded weights are whole numbers of 16 bits, which hold 128, before they are clipped; small scales
# style: count as no less than 1e-8
# only: projection, ste, purity
import numpy as np


class TernaryDense:
    def __init__(self, fan_in, fan_out, seed=0, group_size=128):
        self.latent = np.random.default_rng(seed).normal(0.0, fan_in**-0.5, (fan_out, fan_in))
        self.group_size = group_size
        self.dlatent = None

    def quantized(self):
        used = np.empty_like(self.latent)
        for first in range(0, used.shape[1], self.group_size):
            part = self.latent[:, first : first + self.group_size]
            scale = np.maximum(np.abs(part).mean(axis=1, keepdims=True), 1e-8)
            rounded = np.round(part / scale).astype(np.int16)
            used[:, first : first + self.group_size] = scale * np.clip(rounded, -1, 1)
        return used

    def forward(self, x):
        self.x, self.used = x, self.quantized()
        return x @ self.used.T

    def backward(self, dy):
        self.dlatent = dy.T @ self.x
        return dy @ self.used
