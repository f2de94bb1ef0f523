# bug: what is hidden behind a shorter row gets −1e9, and a score may be less
# caught by: variable_lengths
# passes: incremental_equals_full
import numpy as np


class PaddedCache:
    """Keys and values of a batch, (B, H, room, D), and how many tokens each row holds."""

    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.lens = np.zeros(batch_size, np.int64)

    def append(self, k, v, new_lens=None):
        """Add (B, H, T, D), of which row b has new_lens[b]."""
        if new_lens is None:
            new_lens = np.full(len(k), k.shape[2])
        after = self.lens + new_lens
        if np.any(after > self.k.shape[2]):
            raise ValueError(f"room for {self.k.shape[2]} tokens, {after.max()} wanted")
        for row, (start, end) in enumerate(zip(self.lens, after)):
            self.k[row, :, start:end] = k[row, :, : end - start]
            self.v[row, :, start:end] = v[row, :, : end - start]
        self.lens = after


def attend(q, cache):
    """One query of each row, (B, H, 1, D), over all that the row holds."""
    width = cache.lens.max()
    k, v = cache.k[:, :, :width], cache.v[:, :, :width]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    hidden = np.arange(width) >= cache.lens[:, None]
    scores += np.where(hidden, -1e9, 0.0)[:, None, None]
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
