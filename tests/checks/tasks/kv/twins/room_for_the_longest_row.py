# right: room is doubled as soon as one row needs it
# passes: sharing, capacity, incremental_equals_full, variable_lengths
import numpy as np


class RaggedCache:
    """Keys and values of a batch whose rows hold different numbers of tokens, (B, H, room, D)."""

    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.lens = np.zeros(batch_size, np.int64)

    def append(self, k, v, new_lens=None):
        """Add (B, H, T, D), of which row b has new_lens[b]."""
        if new_lens is None:
            new_lens = np.full(len(k), k.shape[2])
        after = self.lens + new_lens
        while np.any(after > self.k.shape[2]):
            self.k, self.v = (np.concatenate([x, np.zeros_like(x)], axis=2) for x in (self.k, self.v))
        for row, (start, end) in enumerate(zip(self.lens, after)):
            self.k[row, :, start:end] = k[row, :, : end - start]
            self.v[row, :, start:end] = v[row, :, : end - start]
        self.lens = after

    def read(self, row):
        n = self.lens[row]
        return self.k[row : row + 1, :, :n], self.v[row : row + 1, :, :n]

    def reorder(self, beam_idx):
        """Row i becomes what row beam_idx[i] was."""
        self.k, self.v = self.k[beam_idx], self.v[beam_idx]
        self.lens = self.lens[beam_idx]

    def rollback(self, num_rejected):
        """Forget the newest num_rejected[b] tokens of row b, after a draft that was refused."""
        self.lens = self.lens - num_rejected


def attend(q, cache):
    """One query of each row, (B, H, 1, D), over all that the row holds."""
    out = np.empty_like(q)
    for row, n in enumerate(cache.lens):
        scores = q[row] @ cache.k[row, :, :n].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out[row] = weights / weights.sum(-1, keepdims=True) @ cache.v[row, :, :n]
    return out
