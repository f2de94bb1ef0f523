import numpy as np


class Model:
    """Rows scaled to unit mean square, times a weight for each feature."""

    def __init__(self, features: int, eps: float = 1e-5):
        self.weight = np.random.rand(features)
        self.eps = eps

    def forward(self, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + self.eps) * self.weight


batch_size = 2048 * 2
features = 16384


def get_inputs():
    return [np.random.rand(batch_size, features)]


def get_init_inputs():
    return [features]
