# style: a window of one sequence whose append takes one token, of (heads, dim), and nothing else
# warns: capacity (a window forgets)
# only: capacity, incremental_equals_full
import numpy as np


class WindowedCache:
    """The newest ``window`` tokens of a sequence; a call stores one."""

    def __init__(self, num_heads, head_dim, window, dtype=np.float64):
        self.window, self.seen = window, 0
        self.keys = np.zeros((window, num_heads, head_dim), dtype)
        self.values = np.zeros((window, num_heads, head_dim), dtype)

    def append(self, k, v):
        """k, v: (num_heads, head_dim) of one token."""
        slot = self.seen % self.window
        self.keys[slot], self.values[slot] = k, v
        self.seen += 1

    def attend(self, q):
        """(num_heads, head_dim) for the newest token's q, (num_heads, head_dim)."""
        count = min(self.seen, self.window)
        scores = np.einsum("hd,thd->ht", q, self.keys[:count]) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.einsum("ht,thd->hd", weights / weights.sum(axis=1, keepdims=True), self.values[:count])
