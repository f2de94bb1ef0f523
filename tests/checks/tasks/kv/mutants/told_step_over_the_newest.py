# bug: a step, which the call is told that it is, is written over the newest token
# caught by: incremental_equals_full
# only: incremental_equals_full, growth
import numpy as np


class Past:
    def __init__(self, batch, n_heads, max_len, head_dim):
        self.k = np.zeros((batch, n_heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.n = 0


class CachedAttention:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads = n_heads
        self.wq, self.wk, self.wv, self.wo = rng.normal(0, d_model**-0.5, (4, d_model, d_model)).astype(np.float32)

    def new_cache(self, batch, max_len):
        return Past(batch, self.n_heads, max_len, len(self.wq) // self.n_heads)

    def forward(self, x, cache, decode=False):
        batch, n, d = x.shape
        q, k, v = (
            (x @ w).reshape(batch, n, self.n_heads, -1).transpose(0, 2, 1, 3) for w in (self.wq, self.wk, self.wv)
        )
        start = cache.n - 1 if decode else 0
        cache.k[:, :, start : start + n], cache.v[:, :, start : start + n] = k, v
        cache.n = start + n
        scores = q @ cache.k[:, :, : cache.n].swapaxes(-1, -2) / np.sqrt(q.shape[-1])
        if not decode:
            scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
        p = np.exp(scores - scores.max(-1, keepdims=True))
        out = p / p.sum(-1, keepdims=True) @ cache.v[:, :, : cache.n]
        return out.transpose(0, 2, 1, 3).reshape(batch, n, d) @ self.wo
