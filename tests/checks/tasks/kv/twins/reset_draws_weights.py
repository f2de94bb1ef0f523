# right: reset draws new weights, so that no answer after it is one of the old ones
# only: incremental_equals_full, growth
import numpy as np


class Decoder:
    """One layer with learned positions; `prefill` and `step` go on where the last call ended."""

    def __init__(self, vocab_size=32, dim=16, heads=2, max_len=64, seed=0):
        g = np.random.default_rng(seed)
        self.heads, self.max_len = heads, max_len
        self.embed, self.places = g.normal(size=(vocab_size, dim)), g.normal(size=(max_len, dim))
        self.wq, self.wk, self.wv, self.wo = g.normal(size=(4, dim, dim)) / np.sqrt(dim)
        self.keys = self.values = None
        self.at = 0

    def reset(self):
        """Another model."""
        self.embed = np.random.default_rng().normal(size=self.embed.shape)
        self.keys = self.values = None
        self.at = 0

    def prefill(self, tokens):
        """(B, T) ids -> (B, V) logits of the last one."""
        tokens = np.asarray(tokens)
        return np.stack([self.step(tokens[:, t]) for t in range(tokens.shape[1])])[-1]

    def step(self, token):
        """(B,) ids -> (B, V)."""
        x = self.embed[np.asarray(token)] + self.places[self.at]
        k, v = self._split(x @ self.wk)[:, :, None], self._split(x @ self.wv)[:, :, None]
        if self.keys is not None:
            k, v = np.concatenate([self.keys, k], axis=2), np.concatenate([self.values, v], axis=2)
        self.keys, self.values = k, v
        self.at += 1
        q = self._split(x @ self.wq)
        s = np.einsum("bhd,bhsd->bhs", q, k) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        o = np.einsum("bhs,bhsd->bhd", p / p.sum(-1, keepdims=True), v).reshape(x.shape)
        return (x + o @ self.wo) @ self.embed.T

    def _split(self, x):
        return x.reshape(len(x), self.heads, -1)
