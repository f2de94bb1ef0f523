# right: queries and keys are normalised head by head, and a bias falls with distance: another attention, but consistent
# skips: cache_size_minimality (the cache is inside), isolation (the cache is inside), variable_lengths (takes no lengths)
# passes: capacity
import numpy as np


class UnitHeadsDecoder:
    def __init__(self, vocab_size, embed_dim, num_heads, max_seq_len, seed=0):
        g = np.random.default_rng(seed)
        self.emb = g.normal(size=(vocab_size, embed_dim))
        self.w_query, self.w_key, self.w_value, self.w_out = g.normal(size=(4, embed_dim, embed_dim)) / embed_dim**0.5
        self.heads, self.max_seq_len = num_heads, max_seq_len
        self.slopes = 2.0 ** -np.arange(1, num_heads + 1)
        self.keys = self.values = None
        self.length = 0

    def _cut(self, x, w):
        return (x @ w).reshape(*x.shape[:2], self.heads, -1).transpose(0, 2, 1, 3)

    def _unit(self, x):
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)

    def _forward(self, x):
        end = self.length + x.shape[1]
        self.keys[:, :, self.length : end] = self._unit(self._cut(x, self.w_key))
        self.values[:, :, self.length : end] = self._cut(x, self.w_value)
        q = self._unit(self._cut(x, self.w_query))
        ago = self.length + np.arange(x.shape[1])[:, None] - np.arange(end)
        s = q @ self.keys[:, :, :end].transpose(0, 1, 3, 2) / np.sqrt(q.shape[-1])
        s = np.where(ago >= 0, s - self.slopes[:, None, None] * ago, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        y = p / p.sum(-1, keepdims=True) @ self.values[:, :, :end]
        self.length = end
        return (x + y.transpose(0, 2, 1, 3).reshape(x.shape) @ self.w_out)[:, -1] @ self.emb.T

    def prefill(self, tokens):
        x = self.emb[np.asarray(tokens)]
        shape = (x.shape[0], self.heads, self.max_seq_len, x.shape[2] // self.heads)
        self.keys, self.values, self.length = np.zeros(shape), np.zeros(shape), 0
        return self._forward(x)

    def decode_step(self, token):
        return self._forward(self.emb[np.reshape(token, (-1, 1))])
