# right: a ring of the newest tokens; prompts of several lengths go in together, padded past the window
# passes: variable_lengths, isolation
# warns: capacity, chunked_prefill
import numpy as np


class SlidingWindowCache:
    """Token p of a row stands in slot p % window, (B, H, window, D)."""

    def __init__(self, batch_size, num_heads, window, head_dim):
        self.window = window
        self.k = np.zeros((batch_size, num_heads, window, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.lengths = np.zeros(batch_size, np.int64)

    def fill(self, row, k, v, length):
        """Store what stays of a prompt, (H, T, D), of which `length` tokens are real."""
        newest = np.arange(max(0, length - self.window), length)
        slots = (self.lengths[row] + newest) % self.window
        self.k[row][:, slots], self.v[row][:, slots] = k[:, newest], v[:, newest]
        self.lengths[row] += length

    def newest(self, row):
        held = np.arange(max(0, self.lengths[row] - self.window), self.lengths[row]) % self.window
        return self.k[row][:, held], self.v[row][:, held]


def _weighted(q, k, v, seen=True):
    scores = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def prefill(cache, q, k, v, lengths):
    """Prompts, (B, H, T, D), right-padded; each token sees the window of tokens up to it."""
    out = np.zeros_like(q)
    for row, n in enumerate(lengths):
        at = np.arange(n)
        seen = (at <= at[:, None]) & (at > at[:, None] - cache.window)
        out[row, :, :n] = _weighted(q[row, :, :n], k[row, :, :n], v[row, :, :n], seen)
        cache.fill(row, k[row], v[row], int(n))
    return out


def decode_step(cache, q, k, v):
    """One token of each row, (B, H, D)."""
    out = np.zeros_like(q)
    for row in range(len(q)):
        cache.fill(row, k[row][:, None], v[row][:, None], 1)
        out[row] = _weighted(q[row][:, None], *cache.newest(row))[:, 0]
    return out
