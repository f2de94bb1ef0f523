# right: a layer holds its cache, and its attend(q, k, v) is over what it is handed: it stores nothing
# only: incremental_equals_full, growth
import numpy as np


class Layer:
    def __init__(self, heads, head_dim, max_len):
        self.head_dim = head_dim
        self.keys = np.zeros((max_len, heads, head_dim))
        self.values = np.zeros((max_len, heads, head_dim))
        self.filled = 0

    def reset(self):
        self.filled = 0

    def onwards(self, q, k, v):
        end = self.filled + len(q)
        if end > len(self.keys):
            raise ValueError(f"no room for {end} tokens")
        self.keys[self.filled : end], self.values[self.filled : end] = k, v
        self.filled = end
        return self.attend(q, self.keys[:end], self.values[:end])

    def attend(self, q, k, v):
        behind = len(k) - len(q)
        scores = np.einsum("ihd,jhd->hij", q, k) / np.sqrt(self.head_dim)
        scores += np.where(np.arange(len(k)) > behind + np.arange(len(q))[:, None], -np.inf, 0.0)
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("hij,jhd->ihd", weights / weights.sum(-1, keepdims=True), v)


class LanguageModel:
    def __init__(self, vocab_size=48, hidden=24, heads=3, layers=2, max_len=160, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = heads
        self.embedding = rng.normal(size=(vocab_size, hidden))
        self.maps = [rng.normal(size=(4, hidden, hidden)) / hidden**0.5 for _ in range(layers)]
        self.layers = [Layer(heads, hidden // heads, max_len) for _ in range(layers)]

    def _through(self, tokens):
        x = self.embedding[np.asarray(tokens)]
        for (q, k, v, o), layer in zip(self.maps, self.layers):
            split = [(x @ w).reshape(len(x), self.heads, -1) for w in (q, k, v)]
            x = x + np.tanh(layer.onwards(*split).reshape(x.shape)) @ o
        return x @ self.embedding.T

    def prefill(self, tokens):
        for layer in self.layers:
            layer.reset()
        return self._through(tokens)[-1]

    def decode(self, token):
        return self._through([token])[-1]
