# style: latent weights in nested lists
# only: projection, purity
import random

import numpy as np


class TernaryLinear:
    """Latent weights (out, in) in lists."""

    def __init__(self, n_in, n_out):
        self.weight = [[random.gauss(0.0, n_in**-0.5) for _ in range(n_in)] for _ in range(n_out)]

    def project(self, size=128):
        rows = []
        for row in self.weight:
            if not isinstance(row, list):
                raise TypeError("a row is a list")
            parts = [np.array(row[start : start + size]) for start in range(0, len(row), size)]
            scales = [np.abs(part).mean() for part in parts]
            rows.append(np.concatenate([s * np.clip(np.rint(p / (s or 1.0)), -1, 1) for p, s in zip(parts, scales)]))
        return np.array(rows)

    def forward(self, x):
        return (np.asarray(x) @ self.project().T).tolist()
