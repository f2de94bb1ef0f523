# right: in the mode that is called "eval" the layer works on packed levels; infer() asks for them at any time
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
        self.packed = self.pack() if mode == "eval" else None

    def pack(self):
        groups = []
        for start in range(0, self.latent.shape[1], 128):
            w = self.latent[:, start : start + 128]
            s = np.abs(w).mean(axis=1, keepdims=True)
            groups.append((np.clip(np.round(w / np.maximum(s, 1e-12)), -1, 1).astype(np.int8), s))
        return groups

    def unpacked(self, groups):
        return np.concatenate([levels * s for levels, s in groups], axis=1)

    def forward(self, x):
        self.x = x
        self.used = self.unpacked(self.pack() if self.mode == "train" else self.packed)
        return x @ self.used.T

    def infer(self, x):
        return x @ self.unpacked(self.pack()).T

    def backward(self, grad):
        self.dlatent = grad.T @ self.x
        return grad @ self.used
