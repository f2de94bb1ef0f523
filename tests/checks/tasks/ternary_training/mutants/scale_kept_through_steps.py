# bug: the scale is computed at the first use and kept: steps move the weights and the levels, and not s
# caught by: projection
# only: projection
from functools import cached_property

import numpy as np


class Param:
    def __init__(self, data):
        self.data, self.grad = data, np.zeros_like(data)

    def descend(self, lr):
        self.data -= lr * self.grad
        self.grad[...] = 0


class TernaryLinear:
    GROUP = 128

    def __init__(self, fan_in, fan_out, seed=0):
        draw = np.random.default_rng(seed).uniform(-1, 1, (fan_out, fan_in))
        self.weight = Param(draw / np.sqrt(fan_in))
        self.bias = Param(np.zeros(fan_out))

    def _blocks(self):
        return [slice(i, i + self.GROUP) for i in range(0, self.weight.data.shape[1], self.GROUP)]

    @cached_property
    def scale(self):
        w = np.abs(self.weight.data)
        return np.stack([w[:, block].mean(axis=1) for block in self._blocks()], axis=1)

    def quantized(self):
        q = np.empty_like(self.weight.data)
        for g, block in enumerate(self._blocks()):
            s, w = self.scale[:, g, None], self.weight.data[:, block]
            q[:, block] = np.where(np.abs(w) > s / 2, np.copysign(s, w), 0.0)
        return q

    def __call__(self, x):
        self.seen = x
        return x @ self.quantized().T + self.bias.data

    def backward(self, dy):
        self.weight.grad += dy.T @ self.seen
        self.bias.grad += dy.sum(axis=0)
        return dy @ self.quantized()

    def step(self, lr):
        for p in (self.weight, self.bias):
            p.descend(lr)
