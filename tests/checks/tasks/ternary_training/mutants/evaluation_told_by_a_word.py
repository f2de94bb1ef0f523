# bug: in the mode that is called "eval" the layer multiplies by its latent weights
# caught by: projection
# only: projection, ste, purity
import numpy as np


class TernaryLayer:
    def __init__(self, d_in, d_out, seed=1):
        self.latent = np.random.default_rng(seed).normal(0.0, d_in**-0.5, (d_out, d_in))
        self.mode = "train"

    def set_mode(self, mode):
        if mode not in ("train", "eval"):
            raise ValueError(f"no mode {mode!r}")
        self.mode = mode

    def quantized(self):
        used = self.latent.copy()
        if self.mode == "eval":
            return used
        for start in range(0, used.shape[1], 128):
            group = used[:, start : start + 128]
            s = np.abs(group).mean(axis=1, keepdims=True)
            group[:] = s * np.clip(np.round(group / np.maximum(s, 1e-12)), -1, 1)
        return used

    def forward(self, x):
        self.x, self.used = x, self.quantized()
        return x @ self.used.T

    def backward(self, grad):
        self.dlatent = grad.T @ self.x
        return grad @ self.used
