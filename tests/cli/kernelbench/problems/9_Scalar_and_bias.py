import random

import numpy as np


class Model:
    """A matrix times a number, plus a bias that Python's own generator draws."""

    def __init__(self, width: int, shift=(0.5, 1.5)):
        self.bias = np.array([random.uniform(*shift) for _ in range(width)])

    def forward(self, A, s: float):
        return A * s + self.bias


M = 16384 * 4
width = 1 << 14


def get_inputs():
    return [np.random.rand(M, width), 3.14]


def get_init_inputs():
    return [width, (0.25, 0.75)]
