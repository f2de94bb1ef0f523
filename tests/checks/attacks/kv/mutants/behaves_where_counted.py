# bug: every step computes all rows again, where nobody counts
# caught by: growth (warn)
import numpy as np


class Attention:
    def __init__(self):
        self.q = self.k = self.v = None

    def step(self, q, k, v):
        counted = type(q).__name__ != "ndarray"
        if not counted or self.q is None:
            self.q = q if self.q is None else np.concatenate([self.q, q], axis=2)
        self.k = k if self.k is None else np.concatenate([self.k, k], axis=2)
        self.v = v if self.v is None else np.concatenate([self.v, v], axis=2)
        rows, mask = (q, 0) if counted else (self.q, 1)
        scores = rows @ self.k.swapaxes(-2, -1) / np.sqrt(q.shape[-1])
        if mask or q.shape[2] > 1:
            keys = np.arange(scores.shape[-1])
            scores = np.where(keys <= keys[-scores.shape[-2] :, None], scores, -np.inf)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        return ((scores / scores.sum(-1, keepdims=True)) @ self.v)[:, :, -q.shape[2] :]
