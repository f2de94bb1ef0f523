# bug: what comes next is written behind the longest row that is left, over what the others hold
# caught by: sharing
# passes: incremental_equals_full, variable_lengths
import numpy as np


class LeftPaddedCache:
    """Keys and values of a batch that steps together: (B, H, room, D), prompts end in one column."""

    def __init__(self, num_heads, head_dim, max_len):
        self.shape = (num_heads, max_len, head_dim)
        self.end = 0
        self._rows(0)

    def _rows(self, batch):
        self.k, self.v = (np.zeros((batch, *self.shape), np.float32) for _ in range(2))
        self.first = np.zeros(batch, np.int64)

    def fill(self, ks, vs):
        """Begin with prompts, each (H, T_i, D)."""
        sizes = [k.shape[1] for k in ks]
        self._rows(len(sizes))
        self.end = max(sizes)
        self.first = self.end - np.array(sizes)
        for row, start in enumerate(self.first):
            self.k[row, :, start : self.end], self.v[row, :, start : self.end] = ks[row], vs[row]

    def append(self, k, v):
        """A token of each row, (B, H, D)."""
        if not len(self.first):
            self._rows(len(k))
        if self.end == self.k.shape[2]:
            raise ValueError(f"room for {self.end} tokens, and all are there")
        self.k[:, :, self.end], self.v[:, :, self.end] = k, v
        self.end += 1

    def keep_rows(self, indices):
        """The rows that go on when others have finished."""
        self.k, self.v, self.first = self.k[indices], self.v[indices], self.first[indices]
        self.end -= self.first.min()

    def row(self, i):
        held = slice(self.first[i], self.end)
        return self.k[i, :, held], self.v[i, :, held]


def _attention(q, k, v, hidden=False):
    scores = np.where(hidden, -np.inf, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]))
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v


def prefill(cache, queries, keys, values):
    """Lists of (H, T_i, D); the answers come in one, too."""
    cache.fill(keys, values)
    return [
        _attention(q, k, v, np.triu(np.ones((q.shape[1],) * 2, bool), 1))
        for q, k, v in zip(queries, keys, values)
    ]


def decode_step(cache, q, k, v):
    """(B, H, D) of one token of each row."""
    cache.append(k, v)
    return np.stack([_attention(q[i][:, None], *cache.row(i))[:, 0] for i in range(len(q))])
