# bug: a prompt as long as the window wraps round the room that a ring has so far: its oldest tokens go
# caught by: capacity
# only: capacity, incremental_equals_full
import numpy as np

STEP = 32


class RotatingKVCache:
    """Keys and values of the newest ``window`` tokens, (B, H, window, D); room grows by STEP up to that."""

    def __init__(self, batch, heads, head_dim, window, dtype=np.float32):
        self.batch, self.heads, self.head_dim, self.window, self.dtype = batch, heads, head_dim, window, dtype
        self.k = np.zeros((batch, heads, min(STEP, window), head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.seen = 0

    def _grow(self, needed):
        room = self.k.shape[2]
        while room < min(needed, self.window):
            room = min(room + STEP, self.window)
        if room > self.k.shape[2]:
            extra = np.zeros((self.batch, self.heads, room - self.k.shape[2], self.head_dim), self.dtype)
            self.k, self.v = np.concatenate([self.k, extra], 2), np.concatenate([self.v, extra], 2)

    def append(self, k, v):
        """k, v: (B, H, T, D)."""
        count = k.shape[2]
        room = self.k.shape[2]
        if count < self.window:
            self._grow(self.seen + count)
            room = self.window
        first = max(0, count - self.window)
        places = (self.seen + np.arange(first, count)) % room
        self.k[:, :, places], self.v[:, :, places] = k[:, :, first:], v[:, :, first:]
        self.seen += count

    def ordered(self):
        n = min(self.seen, self.k.shape[2])
        places = np.arange(self.seen - n, self.seen) % self.k.shape[2]
        return self.k[:, :, places], self.v[:, :, places]

    def attend(self, q):
        """q: (B, H, 1, D) of the newest token."""
        k, v = self.ordered()
        s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ v
