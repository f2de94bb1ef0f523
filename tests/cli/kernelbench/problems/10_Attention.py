import numpy as np


class Model:
    """Scaled dot-product attention."""

    def __init__(self):
        pass

    def forward(self, Q, K, V):
        scores = Q @ K.swapaxes(-1, -2) / np.sqrt(Q.shape[-1])
        raised = np.exp(scores - scores.max(-1, keepdims=True))
        return raised / raised.sum(-1, keepdims=True) @ V


batch_size = 32
num_heads = 32
sequence_length = 512
embedding_dimension = 1024


def get_inputs():
    shape = (batch_size, num_heads, sequence_length, embedding_dimension)
    return [np.random.rand(*shape) for _ in range(3)]


def get_init_inputs():
    return []
