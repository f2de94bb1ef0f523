import numpy as np


class Model:
    """The mean of minus the logarithm of the probability of the right class: one number."""

    def forward(self, predictions, targets):
        raised = predictions - predictions.max(1, keepdims=True)
        logs = raised - np.log(np.exp(raised).sum(1, keepdims=True))
        return -logs[np.arange(len(targets)), targets].mean()


batch_size = 32768
num_classes = 4096
input_shape = (num_classes,)


def get_inputs():
    return [np.random.rand(batch_size, *input_shape), np.random.randint(0, num_classes, (batch_size,))]


def get_init_inputs():
    return []
