# bug: positions start at zero in every chunk of a prompt
# caught by: chunked_prefill
import numpy as np


class TinyLM:
    def __init__(self, vocab_size, hidden_dim, n_heads, max_length, seed=1):
        g = np.random.default_rng(seed)
        self.e = g.normal(size=(vocab_size, hidden_dim))
        self.pe = g.normal(size=(max_length, hidden_dim))
        self.w = g.normal(size=(4, hidden_dim, hidden_dim)) / hidden_dim**0.5
        self.h = n_heads
        self.past = None

    def _run(self, ids, start):
        ids = np.asarray(ids)
        x = self.e[ids] + self.pe[start : start + ids.shape[1]]
        q, k, v = ((x @ w).reshape(*ids.shape, self.h, -1).swapaxes(1, 2) for w in self.w[:3])
        if self.past is not None:
            k, v = (np.concatenate(pair, 2) for pair in zip(self.past, (k, v)))
        self.past = k, v
        s = q @ k.swapaxes(2, 3) / k.shape[-1] ** 0.5
        n, m = s.shape[2:]
        s = np.where(np.tri(n, m, m - n, dtype=bool), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        o = (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(x.shape)
        return (x + o @ self.w[3]) @ self.e.T

    def prefill(self, ids):
        self.past = None
        return self._run(ids, 0)[:, -1]

    def chunked_prefill(self, ids, chunk_size):
        self.past = None
        for at in range(0, np.shape(ids)[1], chunk_size):
            out = self._run(ids[:, at : at + chunk_size], 0)
        return out[:, -1]

    def decode(self, token):
        return self._run(np.reshape(token, (-1, 1)), self.past[0].shape[2])[:, 0]
