# bug: a second cache has the arrays of the first
# caught by: sharing
# passes: incremental_equals_full
import numpy as np


class BeamCache:
    """Keys and values of a batch of beams, (B, H, room, D)."""

    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.length = 0

    def update(self, k, v):
        """Append (B, H, T, D); everything so far comes back."""
        n = self.length + k.shape[2]
        if n > self.k.shape[2]:
            raise ValueError(f"room for {self.k.shape[2]} tokens, {n} wanted")
        self.k[:, :, self.length : n] = k
        self.v[:, :, self.length : n] = v
        self.length = n
        return self.k[:, :, :n], self.v[:, :, :n]

    def reorder_cache(self, beam_idx):
        """Row i becomes what row beam_idx[i] was."""
        self.k = self.k[beam_idx]
        self.v = self.v[beam_idx]

    def rewind(self, n):
        """Forget the newest n tokens."""
        self.length = max(self.length - n, 0)

    def clone(self):
        other = object.__new__(BeamCache)
        other.k, other.v, other.length = self.k, self.v, self.length
        return other


def cached_attention(q, cache, k, v):
    keys, values = cache.update(k, v)
    scores = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    first = keys.shape[2] - q.shape[2]
    seen = np.arange(keys.shape[2]) <= first + np.arange(q.shape[2])[:, None]
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values
