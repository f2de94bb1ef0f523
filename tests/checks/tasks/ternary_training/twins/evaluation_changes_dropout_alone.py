# right: training drops a share of the inputs, none unless it is asked for; evaluation drops none
# only: projection, ste, purity
import numpy as np


class Ternary128:
    def __init__(self, n_in, n_out, dropout=0.0, seed=0):
        self.training, self.dropout = True, dropout
        self.rng = np.random.default_rng(seed)
        self.master = self.rng.standard_normal((n_out, n_in)) * n_in**-0.5

    def train(self):
        self.training = True

    def eval(self):
        self.training = False

    def weights(self):
        projected = np.zeros_like(self.master)
        for left in range(0, projected.shape[1], 128):
            group = self.master[:, left : left + 128]
            scale = np.abs(group).mean(1)[:, None]
            projected[:, left : left + 128] = np.sign(group) * scale * (np.abs(group) > 0.5 * scale)
        return projected

    def forward(self, x):
        self.mask = np.ones_like(x)
        if self.training and self.dropout > 0.0:
            self.mask = (self.rng.random(x.shape) >= self.dropout) / (1.0 - self.dropout)
        self.x, self.projected = x * self.mask, self.weights()
        return self.x @ self.projected.T

    def backward(self, dy):
        self.d_master = dy.T @ self.x
        return (dy @ self.projected) * self.mask
