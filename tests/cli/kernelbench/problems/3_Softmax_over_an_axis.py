import numpy as np


class Model:
    """Softmax along an axis that the constructor is told."""

    def __init__(self, dim: int):
        self.dim = dim

    def forward(self, x):
        raised = np.exp(x - x.max(self.dim, keepdims=True))
        return raised / raised.sum(self.dim, keepdims=True)


batch_size = 4096
input_shape = (393216,)
dim = 1


def get_inputs():
    return [np.random.rand(batch_size, *input_shape)]


def get_init_inputs():
    return [dim]
