import numpy as np


class Model:
    """Channels normalised in groups."""

    def __init__(self, num_features: int, num_groups: int):
        if num_features % num_groups:
            raise ValueError("the groups do not divide the features")
        self.num_groups = num_groups
        self.weight = np.random.standard_normal(num_features)
        self.bias = np.random.standard_normal(num_features)

    def forward(self, x):
        n, c, *inner = x.shape
        grouped = x.reshape(n, self.num_groups, -1)
        centred = grouped - grouped.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        ones = (1,) * len(inner)
        return scaled.reshape(x.shape) * self.weight.reshape(c, *ones) + self.bias.reshape(c, *ones)


batch_size = 112
features = 64
num_groups = 8
dim1, dim2 = 512, 512


def get_inputs():
    return [np.random.rand(batch_size, features, dim1, dim2)]


def get_init_inputs():
    return [features, num_groups]
