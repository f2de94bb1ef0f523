import numpy as np


class Model:
    """Where the largest entry of each column stands."""

    def forward(self, x):
        return np.argmax(x, axis=1)


batch_size = 128
dim1 = 4096
dim2 = 4095


def get_inputs():
    return [np.random.rand(batch_size, dim1, dim2)]


def get_init_inputs():
    return []
