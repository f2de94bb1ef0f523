# right: nothing is taken back but a draft, which has to be announced; it refuses everything else
# only: incremental_equals_full, capacity
import numpy as np


class DraftingCache:
    """Keys and values (B, H, N, D) of what was accepted, and behind them those of a draft."""

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.length, self.accepted = 0, None

    def begin_draft(self):
        self.accepted = self.length

    def rollback(self, n):
        """Drop the newest n tokens of the draft."""
        if self.accepted is None:
            raise RuntimeError("there is no draft: call begin_draft() before")
        if self.length - n < self.accepted:
            raise ValueError(f"the draft has {self.length - self.accepted} tokens, and not {n}")
        self.length -= n

    def step(self, q, k, v):
        """Append tokens and attend with their queries, causally."""
        start, end = self.length, self.length + k.shape[2]
        if end > self.k.shape[2]:
            raise ValueError(f"{end} tokens do not fit")
        self.k[:, :, start:end], self.v[:, :, start:end], self.length = k, v, end
        s = q @ self.k[:, :, :end].swapaxes(2, 3) / np.sqrt(q.shape[3])
        s = np.where(np.arange(end) <= np.arange(start, end)[:, None], s, -np.inf)
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        return p / p.sum(axis=-1, keepdims=True) @ self.v[:, :, :end]
