# bug: what is hidden gets −1e9, and a score may be less
# caught by: incremental_equals_full
# passes: isolation
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
    """The newest T queries of each row, (B, H, T, D), each over what stands before and at it."""
    t, width = q.shape[2], cache.lens.max()
    k, v = cache.k[:, :, :width], cache.v[:, :, :width]
    scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    last = cache.lens[:, None] - t + np.arange(t)
    hidden = np.arange(width)[None, None, :] > last[:, :, None]
    scores[np.broadcast_to(hidden[:, None], scores.shape)] = -1e9
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True) @ v
