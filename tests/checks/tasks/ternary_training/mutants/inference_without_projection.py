# bug: what inference calls in the place of the forward multiplies by the latent weights
# caught by: projection
# only: projection, ste, purity
import numpy as np

GROUP = 128


class BitDense:
    def __init__(self, in_features, out_features, rng=None):
        rng = rng or np.random.default_rng(5)
        self.W = rng.normal(0.0, 1.0 / np.sqrt(in_features), (out_features, in_features))
        self.b = np.zeros(out_features)

    def ternary(self):
        starts = np.arange(0, self.W.shape[1], GROUP)
        sizes = np.diff(np.append(starts, self.W.shape[1]))
        s = np.repeat(np.add.reduceat(np.abs(self.W), starts, axis=1) / sizes, sizes, axis=1)
        return s * np.clip(np.round(self.W / np.where(s > 0, s, 1.0)), -1, 1)

    def forward(self, x):
        self.x, self.Wt = x, self.ternary()
        return x @ self.Wt.T + self.b

    def infer(self, x):
        return x @ self.W.T + self.b

    def backward(self, dy):
        self.dW, self.db = dy.T @ self.x, dy.sum(0)
        return dy @ self.Wt
