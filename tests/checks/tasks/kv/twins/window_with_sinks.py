# style: a window that keeps its first tokens for ever beside the newest, as its parameters say
# only: capacity, incremental_equals_full
import numpy as np


class RollingSinkCache:
    """The first ``sinks`` tokens and the newest ``window`` of the others, (B, H, N, D)."""

    def __init__(self, batch, heads, head_dim, window, sinks=2, dtype=np.float32):
        self.window, self.sinks = window, sinks
        self.k = np.zeros((batch, heads, 0, head_dim), dtype)
        self.v = np.zeros((batch, heads, 0, head_dim), dtype)

    def append(self, k, v):
        """One token: (B, H, 1, D)."""
        self.k, self.v = (np.concatenate(pair, axis=2) for pair in ((self.k, k), (self.v, v)))
        if self.k.shape[2] > self.sinks + self.window:
            self.k, self.v = (np.delete(x, self.sinks, axis=2) for x in (self.k, self.v))

    def attend(self, q):
        """q: (B, H, 1, D) of the newest token."""
        scores = q @ self.k.swapaxes(-1, -2) / q.shape[-1] ** 0.5
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        return weights / weights.sum(axis=-1, keepdims=True) @ self.v
