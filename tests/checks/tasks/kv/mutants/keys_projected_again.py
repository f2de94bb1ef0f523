# bug: what is cached is the hidden state, and keys and values are projected from all of it at every step
# caught by: growth
import numpy as np


class CachedSelfAttention:
    def __init__(self, embed_dim, num_heads, seed=3):
        rng = np.random.RandomState(seed)
        init = lambda: rng.randn(embed_dim, embed_dim).astype(np.float32) / np.sqrt(embed_dim)
        self.w_q, self.w_k, self.w_v, self.w_o = init(), init(), init(), init()
        self.num_heads = num_heads

    def _heads(self, x):
        return x.reshape(x.shape[0], x.shape[1], self.num_heads, -1).transpose(0, 2, 1, 3)

    def forward(self, x, cache=None):
        past = x if cache is None else np.concatenate([cache["hidden"], x], axis=1)
        q, k, v = self._heads(x @ self.w_q), self._heads(past @ self.w_k), self._heads(past @ self.w_v)
        s = q @ k.transpose(0, 1, 3, 2) / np.sqrt(k.shape[-1])
        n, m = s.shape[2:]
        s = np.where(np.arange(m) > m - n + np.arange(n)[:, None], -np.inf, s)
        p = np.exp(s - s.max(-1, keepdims=True))
        y = (p / p.sum(-1, keepdims=True)) @ v
        return y.transpose(0, 2, 1, 3).reshape(x.shape) @ self.w_o, {"hidden": past}
