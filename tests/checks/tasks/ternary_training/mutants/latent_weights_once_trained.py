# bug: a layer whose flag says that it does not train multiplies by its latent weights
# caught by: projection
# only: projection, ste, purity
import numpy as np


class Ternary128:
    """Rows of latent weights, projected in groups of 128 on the way in."""

    def __init__(self, n_in, n_out, seed=0):
        self.is_training = True
        self.master = np.random.default_rng(seed).standard_normal((n_out, n_in)) * n_in**-0.5

    def weights(self):
        if not self.is_training:
            return self.master
        projected = np.zeros_like(self.master)
        for left in range(0, projected.shape[1], 128):
            group = self.master[:, left : left + 128]
            scale = np.abs(group).mean(1)[:, None]
            projected[:, left : left + 128] = np.sign(group) * scale * (np.abs(group) > 0.5 * scale)
        return projected

    def forward(self, x):
        self.x, self.projected = x, self.weights()
        return x @ self.projected.T

    def backward(self, dy):
        self.d_master = dy.T @ self.x
        return dy @ self.projected


def held_out_error(layers, x, target):
    for layer in layers:
        layer.is_training = False
    for layer in layers:
        x = layer.forward(x)
    for layer in layers:
        layer.is_training = True
    return float(((x - target) ** 2).mean())
