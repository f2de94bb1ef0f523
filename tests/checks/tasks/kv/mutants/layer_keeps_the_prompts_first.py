# bug: of a prompt longer than the window the first tokens stay, and not the newest
# caught by: capacity
# passes: incremental_equals_full
import numpy as np


class LocalAttention:
    """Attention over the newest `window` tokens, with weights and ring of its own."""

    def __init__(self, d_model, n_heads, window, seed=0):
        g = np.random.default_rng(seed)
        self.h, self.window = n_heads, window
        self.w = g.normal(size=(4, d_model, d_model)) / d_model**0.5
        self.k = self.v = None
        self.seen = 0

    def prefill(self, x):
        """A new text, (B, T, d_model)."""
        b, t, e = x.shape
        q, k, v = ((x @ w).reshape(b, t, self.h, -1).swapaxes(1, 2) for w in self.w[:3])
        self.k, self.v = np.zeros((2, b, self.h, self.window, e // self.h))
        n = min(t, self.window)
        self.k[:, :, :n], self.v[:, :, :n] = k[:, :, :n], v[:, :, :n]
        self.seen = t
        i = np.arange(t)
        return self._mix(q, k, v, (i <= i[:, None]) & (i > i[:, None] - self.window))

    def step(self, x):
        """The next token, (B, 1, d_model)."""
        q, k, v = ((x @ w).reshape(len(x), 1, self.h, -1).swapaxes(1, 2) for w in self.w[:3])
        slot = self.seen % self.window
        self.k[:, :, slot], self.v[:, :, slot] = k[:, :, 0], v[:, :, 0]
        self.seen += 1
        n = min(self.seen, self.window)
        return self._mix(q, self.k[:, :, :n], self.v[:, :, :n], True)

    def _mix(self, q, k, v, visible):
        s = np.where(visible, q @ k.swapaxes(2, 3) / q.shape[3] ** 0.5, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        o = (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2)
        return o.reshape(*o.shape[:2], -1) @ self.w[3]
