# bug: a row with less than two whole groups gets one scale, its ragged second group included
# caught by: projection
# passes: ste
import numpy as np


class TernaryDense:
    """y = x · q(w)ᵀ with w (out, in) kept in floating point."""

    def __init__(self, n_in, n_out, group_size=128, seed=0):
        self.w = np.random.default_rng(seed).standard_normal((n_out, n_in)) / np.sqrt(n_in)
        self.group_size = group_size

    def _bounds(self):
        n = self.w.shape[1]
        whole = n // self.group_size
        if whole < 2:
            return [(0, n)]
        return [(a, min(a + self.group_size, n)) for a in range(0, n, self.group_size)]

    def quantized(self):
        q = np.zeros_like(self.w)
        for a, b in self._bounds():
            part = self.w[:, a:b]
            s = np.abs(part).sum(axis=1, keepdims=True) / (b - a)
            level = np.sign(part) * (2 * np.abs(part) > s)
            q[:, a:b] = s * level
        return q

    def forward(self, x):
        self.x, self.q = x, self.quantized()
        return np.einsum("...i,oi->...o", x, self.q)

    def backward(self, dy):
        rows, grads = self.x.reshape(-1, self.x.shape[-1]), dy.reshape(-1, dy.shape[-1])
        self.dw = np.einsum("no,ni->oi", grads, rows)
        return np.einsum("...o,oi->...i", dy, self.q)
