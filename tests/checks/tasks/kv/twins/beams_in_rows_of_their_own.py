# right: each beam has arrays of its own; another order copies them
# only: incremental_equals_full, sharing
# passes: sharing
import numpy as np


class BeamCache:
    """Keys and values of a batch of beams, one (H, room, D) for each beam."""

    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = [np.zeros((num_heads, max_len, head_dim), np.float32) for _ in range(batch_size)]
        self.v = [row.copy() for row in self.k]
        self.room = max_len
        self.length = 0

    def update(self, k, v):
        """Append (B, H, T, D); everything so far comes back."""
        n = self.length + k.shape[2]
        if n > self.room:
            raise ValueError(f"room for {self.room} tokens, {n} wanted")
        for row in range(len(self.k)):
            self.k[row][:, self.length : n] = k[row]
            self.v[row][:, self.length : n] = v[row]
        self.length = n
        return np.stack(self.k)[:, :, :n], np.stack(self.v)[:, :, :n]

    def reorder_cache(self, beam_idx):
        """Row i becomes what row beam_idx[i] was."""
        self.k = [self.k[i].copy() for i in beam_idx]
        self.v = [self.v[i].copy() for i in beam_idx]

    def rewind(self, n):
        """Forget the newest n tokens."""
        self.length = max(self.length - n, 0)

    def clone(self):
        other = object.__new__(BeamCache)
        other.k, other.v = ([row.copy() for row in rows] for rows in (self.k, self.v))
        other.length, other.room = self.length, self.room
        return other


def cached_attention(q, cache, k, v):
    keys, values = cache.update(k, v)
    scores = q @ keys.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    first = keys.shape[2] - q.shape[2]
    seen = np.arange(keys.shape[2]) <= first + np.arange(q.shape[2])[:, None]
    scores = np.where(seen, scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ values
