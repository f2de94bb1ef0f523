# style: a layer with weights and a window inside, which is begun, stepped and reset
# warns: capacity (a window forgets)
# only: incremental_equals_full, capacity
import numpy as np


class WindowedAttentionBlock:
    """Attention over the newest `window` tokens; the block keeps them itself."""

    def __init__(self, dim, heads, window, seed=0):
        g = np.random.default_rng(seed)
        self.heads, self.window = heads, window
        self.wq, self.wk, self.wv, self.wo = g.normal(size=(4, dim, dim)) / np.sqrt(dim)
        self.reset()

    def reset(self):
        self.keys, self.values = [], []

    def prefill(self, x):
        """A new text, (B, T, dim); gives (B, T, dim)."""
        self.reset()
        return np.stack([self.step(x[:, t]) for t in range(x.shape[1])], axis=1)

    def step(self, x):
        """The next token, (B, dim); gives (B, dim)."""
        self.keys.append(self._heads(x @ self.wk))
        self.values.append(self._heads(x @ self.wv))
        del self.keys[: -self.window], self.values[: -self.window]
        k, v = np.stack(self.keys, axis=2), np.stack(self.values, axis=2)
        q = self._heads(x @ self.wq)[:, :, None]
        s = (q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1]))[:, :, 0]
        p = np.exp(s - s.max(-1, keepdims=True))
        o = np.einsum("bhs,bhsd->bhd", p / p.sum(-1, keepdims=True), v)
        return o.reshape(x.shape) @ self.wo

    def _heads(self, x):
        return x.reshape(len(x), self.heads, -1)
