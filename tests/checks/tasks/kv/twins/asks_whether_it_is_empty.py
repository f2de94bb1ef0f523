# right: a call that only asks whether the cache is empty, and one that has nothing to write down
# passes: capacity, incremental_equals_full
# skips: variable_lengths, isolation
import numpy as np


class GrowingCache:
    """Keys and values of each layer, (B, H, N, D), which grow by what is appended."""

    def __init__(self, num_layers):
        self.keys = [None] * num_layers
        self.values = [None] * num_layers

    def update(self, k, v, layer):
        """Append (B, H, T, D); everything so far comes back."""
        if self.keys[layer] is not None:
            k = np.concatenate([self.keys[layer], k], axis=2)
            v = np.concatenate([self.values[layer], v], axis=2)
        self.keys[layer], self.values[layer] = k, v
        return k, v

    def empty(self):
        """Whether nothing has come yet."""
        return self.keys[0] is None

    def flush(self):
        """Written down at once: nothing waits."""


def attention(q, k, v):
    """The queries are the newest; each sees what stands before and at it."""
    t, n = q.shape[2], k.shape[2]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    scores = np.where(np.arange(n) > np.arange(n - t, n)[:, None], -np.inf, scores)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
