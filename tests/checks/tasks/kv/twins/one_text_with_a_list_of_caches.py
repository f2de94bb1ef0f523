# only: incremental_equals_full, growth
"""One text at a time; what each layer keeps is an object in a list that the caller carries."""
import numpy as np


class LayerCache:
    def __init__(self):
        self.k = self.v = None

    def add(self, k, v):
        self.k = k if self.k is None else np.concatenate([self.k, k], 1)
        self.v = v if self.v is None else np.concatenate([self.v, v], 1)
        return self.k, self.v


class TextDecoder:
    def __init__(self, vocab_size=40, dim=24, n_heads=3, n_layers=2, seed=0):
        r = np.random.default_rng(seed)
        self.heads, self.table = n_heads, r.normal(size=(vocab_size, dim))
        self.layers = [r.normal(size=(4, dim, dim)) / dim**0.5 for _ in range(n_layers)]

    def new_cache(self):
        return [LayerCache() for _ in self.layers]

    def __call__(self, tokens, cache):
        """Logits (T, V) of ids (T,), which go behind what the cache has seen."""
        x = self.table[np.asarray(tokens, int)]
        for (wq, wk, wv, wo), kept in zip(self.layers, cache):
            q, k, v = ((x @ w).reshape(len(x), self.heads, -1).swapaxes(0, 1) for w in (wq, wk, wv))
            k, v = kept.add(k, v)
            s = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[2])
            s = np.where(np.tri(len(x), k.shape[1], k.shape[1] - len(x)) > 0, s, -np.inf)
            p = np.exp(s - s.max(2, keepdims=True))
            x = x + (p @ v / p.sum(2, keepdims=True)).swapaxes(0, 1).reshape(x.shape) @ wo
        return x @ self.table.T

    def prefill(self, tokens, cache):
        return self(tokens, cache)

    def decode_step(self, token, cache):
        return self([token], cache)[0]
