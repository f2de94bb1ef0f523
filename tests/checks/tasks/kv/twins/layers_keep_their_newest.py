# style: each layer keeps its newest queries, keys and values beside the cache, to be looked at
# only: cache_size_minimality, incremental_equals_full
import numpy as np


class Attention:
    def __init__(self, rng, width, heads):
        self.heads = heads
        self.w = rng.normal(size=(4, width, width)) / np.sqrt(width)
        self.seen = None

    def __call__(self, x, past):
        b, t, _ = x.shape
        self.seen = q, k, v = tuple((x @ w).reshape(b, t, self.heads, -1).swapaxes(1, 2) for w in self.w[:3])
        if past:
            k, v = np.concatenate([past[0], k], axis=2), np.concatenate([past[1], v], axis=2)
        past[:] = [k, v]
        s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
        s = np.where(np.tri(*s.shape[-2:], k.shape[2] - t, dtype=bool), s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return (p / p.sum(-1, keepdims=True) @ v).swapaxes(1, 2).reshape(x.shape) @ self.w[3]


class Model:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, seed=8):
        rng = np.random.default_rng(seed)
        self.embedding = rng.normal(size=(vocab_size, d_model))
        self.layers = [Attention(rng, d_model, n_heads) for _ in range(n_layers)]

    def prefill(self, tokens):
        past = [[] for _ in self.layers]
        return self.step(tokens, past), past

    def step(self, tokens, past):
        tokens = np.asarray(tokens)
        tokens = tokens[:, None] if tokens.ndim == 1 else tokens
        start = past[0][0].shape[2] if past[0] else 0
        x = self.embedding[tokens]
        x = x + np.sin((start + np.arange(tokens.shape[1]))[:, None] * np.geomspace(1, 0.01, x.shape[2]))
        for layer, own in zip(self.layers, past):
            x = x + layer(x, own)
        return (x @ self.embedding.T)[:, -1]
