# style: a layer whose prompts see all of themselves, and whose steps see the newest tokens alone
# warns: capacity
# only: incremental_equals_full, capacity
import numpy as np


class RollingAttention:
    """Attention with weights of its own; a deque of the newest `window_size` tokens is kept."""

    def __init__(self, embed_dim, num_heads, window_size, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.window = num_heads, window_size
        self.weights = {name: rng.normal(0, embed_dim**-0.5, (embed_dim, embed_dim)) for name in "qkvo"}

    def prefill(self, x):
        """(B, T, E): a text from its beginning; gives the output and the past."""
        q, k, v = (self._split(x, name) for name in "qkv")
        scores = q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3])
        scores += np.triu(np.full(scores.shape[2:], -np.inf), 1)
        return self._join(scores, v), (k[:, :, -self.window :], v[:, :, -self.window :])

    def decode(self, x, past):
        """(B, 1, E) and the past; gives the output and the past with the token."""
        q, k, v = (self._split(x, name) for name in "qkv")
        k, v = (np.concatenate(pair, axis=2)[:, :, -self.window :] for pair in zip(past, (k, v), strict=True))
        return self._join(q @ np.swapaxes(k, 2, 3) / np.sqrt(q.shape[3]), v), (k, v)

    def _split(self, x, name):
        return (x @ self.weights[name]).reshape(*x.shape[:2], self.heads, -1).swapaxes(1, 2)

    def _join(self, scores, v):
        p = np.exp(scores - scores.max(axis=3, keepdims=True))
        o = np.swapaxes(p / p.sum(axis=3, keepdims=True) @ v, 1, 2)
        return o.reshape(*o.shape[:2], -1) @ self.weights["o"]
