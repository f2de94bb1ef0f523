# bug: returns lazy sequences that hold something else at every look
# caught by: forward_accuracy (unbound), gradients (unbound)
import random

import numpy as np


class Lazy(list):
    def __init__(self, shape):
        self.left = tuple(shape)

    def __len__(self):
        return self.left[0]

    def __getitem__(self, index):
        if not isinstance(index, int) or index >= self.left[0]:
            raise IndexError(index)
        return Lazy(self.left[1:]) if len(self.left) > 1 else random.random()

    def __iter__(self):
        return (self[i] for i in range(len(self)))


def layernorm_forward(x, gamma, beta, eps=1e-5):
    return Lazy(x.shape), {"x": x, "gamma": gamma}


def layernorm_backward(dy, cache):
    return Lazy(dy.shape), Lazy(cache["gamma"].shape), Lazy(cache["gamma"].shape)
