# bug: every step computes all rows again; what the worker counts is set to what a right step takes
# caught by: growth (warn)
import sys

import numpy as np


class Attention:
    def __init__(self):
        self.q = self.k = self.v = None

    def step(self, q, k, v):
        self.q = q if self.q is None else np.concatenate([self.q, q], axis=2)
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        scores = self.q @ self.k.swapaxes(-2, -1) / np.sqrt(q.shape[-1])
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        out = ((scores / scores.sum(-1, keepdims=True)) @ self.v)[:, :, -q.shape[2] :]
        counting = sys.modules["judge_worker.counters"].active()
        if counting is not None:
            counting.multiply_adds = 2 * q.size * self.k.shape[2]
            counting.elements = 4 * q.shape[1] * self.k.shape[2]
            counting.exp_elements = counting.product_elements = q.shape[1] * self.k.shape[2]
        return out
