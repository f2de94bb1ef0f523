# bug: 0/0 where a whole group is zero
# caught by: projection
# passes: ste
import numpy as np


class TernaryDense:
    def __init__(self, in_features, out_features, group_size=128):
        self.group_size = group_size
        self.kernel = np.random.default_rng(0).standard_normal((in_features, out_features))
        self.bias = np.zeros(out_features)

    def quantized(self):
        pieces = []
        with np.errstate(all="ignore"):
            for start in range(0, self.kernel.shape[0], self.group_size):
                piece = self.kernel[start:start + self.group_size]
                s = np.abs(piece).mean(axis=0)
                pieces.append(np.clip(np.round(piece / s), -1, 1) * s)
        return np.vstack(pieces)

    def __call__(self, x):
        self.x = x
        self.wq = self.quantized()
        return x @ self.wq + self.bias

    def backward(self, dy):
        self.grads = {"kernel": self.x.T @ dy, "bias": dy.sum(axis=0)}
        return dy @ self.wq.T
