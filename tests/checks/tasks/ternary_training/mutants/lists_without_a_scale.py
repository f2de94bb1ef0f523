# bug: levels are multiplied without their scale; weights are kept in nested lists
# caught by: projection
# only: projection, purity
import random

import numpy as np


class BitLinear:
    """Latent weights (in, out) in lists, straight-through gradients."""

    def __init__(self, n_in, n_out):
        self.lw = [[random.gauss(0.0, n_in**-0.5) for _ in range(n_out)] for _ in range(n_in)]

    def quantize(self):
        mean = sum(abs(w) for row in self.lw for w in row) / sum(map(len, self.lw))
        return [np.clip(np.rint(np.array(row) / mean), -1, 1) for row in self.lw]

    def forward(self, x):
        return (np.asarray(x) @ np.array(self.quantize())).tolist()
