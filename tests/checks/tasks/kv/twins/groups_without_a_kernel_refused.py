# style: the decoder says which groups of queries it has no kernel for
# only: gqa, incremental_equals_full
import numpy as np


class TinyLlama:
    def __init__(self, vocab_size, dim, n_heads, n_kv_heads, n_layers=1, max_seq_len=64, seed=0):
        g = np.random.default_rng(seed)
        if n_heads // n_kv_heads not in (1, 2, 3, 4, 8):
            raise ValueError(f"no kernel for {n_heads // n_kv_heads} queries to a head")
        self.n_heads, self.n_kv_heads, self.head_dim = n_heads, n_kv_heads, dim // n_heads
        mat = lambda a, b: g.normal(size=(a, b)) / a**0.5
        self.tok = g.normal(size=(vocab_size, dim))
        self.pos = g.normal(size=(max_seq_len, dim))
        kv = n_kv_heads * self.head_dim
        self.layers = [{"wq": mat(dim, dim), "wk": mat(dim, kv), "wv": mat(dim, kv), "wo": mat(dim, dim)} for _ in range(n_layers)]
        self.kv = None

    def forward(self, ids, start):
        x = self.tok[ids] + self.pos[start : start + ids.shape[1]]
        for w, slot in zip(self.layers, self.kv):
            cut = lambda y, n: y.reshape(*ids.shape, n, self.head_dim).swapaxes(1, 2)
            q, k, v = cut(x @ w["wq"], self.n_heads), cut(x @ w["wk"], self.n_kv_heads), cut(x @ w["wv"], self.n_kv_heads)
            if "k" in slot:
                k, v = np.concatenate([slot["k"], k], 2), np.concatenate([slot["v"], v], 2)
            slot["k"], slot["v"] = k, v
            which = np.arange(self.n_heads) // (self.n_heads // self.n_kv_heads)
            s = q @ k[:, which].swapaxes(2, 3) / self.head_dim**0.5
            n, m = s.shape[2:]
            s = np.where(np.tri(n, m, m - n, dtype=bool), s, -np.inf)
            p = np.exp(s - s.max(-1, keepdims=True))
            x = x + (p / p.sum(-1, keepdims=True) @ v[:, which]).swapaxes(1, 2).reshape(x.shape) @ w["wo"]
        return x[:, -1] @ self.tok.T

    def prefill(self, ids):
        self.kv = [{} for _ in self.layers]
        return self.forward(np.asarray(ids), 0)

    def decode(self, ids):
        return self.forward(np.reshape(ids, (-1, 1)), self.kv[0]["k"].shape[2])
