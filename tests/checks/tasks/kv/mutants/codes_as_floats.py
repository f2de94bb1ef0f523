# bug: what is stored is the rounded numbers themselves, in float32: nothing is saved
# caught by: quantized
import numpy as np


class QuantizedCache:
    def __init__(self, bits=8):
        self.levels = 2 ** (bits - 1) - 1
        self.k, self.v = None, None

    def _rounded(self, x):
        step = np.maximum(np.abs(x).max(-1, keepdims=True), 1e-9) / self.levels
        return (np.rint(x / step) * step).astype(np.float32)

    def update(self, k, v):
        """k, v: (batch, heads, tokens, head_dim)"""
        k, v = self._rounded(k), self._rounded(v)
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        return self.k, self.v

    def get(self):
        return self.k, self.v
