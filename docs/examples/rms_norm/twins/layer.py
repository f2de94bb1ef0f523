from dataclasses import dataclass

import numpy as np


@dataclass
class Grads:
    grad_gain: np.ndarray
    grad_x: np.ndarray


class RMSNorm:
    def __init__(self, epsilon):
        self.epsilon = epsilon

    def __call__(self, inputs, weight):
        self._inv = (np.einsum("bd,bd->b", inputs, inputs) / inputs.shape[1] + self.epsilon)[:, None] ** -0.5
        self._x, self._w = inputs, weight
        return inputs * self._inv * weight

    def backward(self, dout):
        g = dout * self._w
        along = np.einsum("bd,bd->b", g, self._x)[:, None] / g.shape[1]
        dx = self._inv * g - self._inv**3 * self._x * along
        return Grads((dout * self._x * self._inv).sum(0), dx)
