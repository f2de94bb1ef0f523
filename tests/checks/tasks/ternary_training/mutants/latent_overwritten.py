# bug: the forward leaves the projected weights where the latent ones were
# caught by: projection
import numpy as np


class TernaryLinear:
    def __init__(self, in_features, out_features, bias=True, group_size=128):
        self.group_size = group_size
        self.weight = np.random.default_rng(0).standard_normal((out_features, in_features))
        self.bias = np.zeros(out_features)

    def _project(self):
        w = self.weight
        out = np.empty_like(w)
        for i in range(0, w.shape[1], self.group_size):
            g = w[:, i:i + self.group_size]
            s = np.abs(g).mean(axis=1, keepdims=True)
            out[:, i:i + self.group_size] = s * np.clip(np.round(g / (s + 1e-12)), -1, 1)
        return out

    def forward(self, x):
        self.x = x
        self.weight = self._project()
        return x @ self.weight.T + self.bias

    def backward(self, dy):
        self.dweight, self.dbias = dy.T @ self.x, dy.sum(axis=0)
        return dy @ self.weight
