# bug: codes are cut off towards zero, which only the answers show
# caught by: quantized
# only: quantized
import numpy as np


class Int8Cache:
    """One layer, one request; keys and values stay in eight bits."""

    def __init__(self, num_heads, head_dim):
        self.rows, self.shape = [], (num_heads, head_dim)

    def push(self, key, value):
        row = []
        for x in (key, value):
            assert x.shape == self.shape
            step = np.abs(x).max(axis=1, keepdims=True) / 127 + 1e-12
            row.append(((x / step).astype(np.int8), step.astype(np.float32)))
        self.rows.append(row)

    def attend(self, query):
        weights = np.stack([(query * k).sum(1) * s[:, 0] for (k, s), _ in self.rows], 1) / np.sqrt(self.shape[1])
        weights = np.exp(weights - weights.max(1, keepdims=True))
        weights /= weights.sum(1, keepdims=True)
        return sum(weights[:, t, None] * s * v for t, (_, (v, s)) in enumerate(self.rows))
