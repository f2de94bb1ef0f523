# bug: where one layer cannot go back nothing is taken back, and nothing says so
# caught by: sharing
# only: sharing, growth
import numpy as np


class Whole:
    def __init__(self):
        self.kv, self.count = None, 0

    def goes_back(self, n):
        return n <= self.count

    def cut(self, n):
        self.count -= n
        self.kv = self.kv[:, : self.kv.shape[1] - n]

    def add(self, new):
        self.kv = new if self.kv is None else np.concatenate([self.kv, new], 1)
        self.count += new.shape[1]
        return self.kv, np.arange(self.count - self.kv.shape[1], self.count)


class Newest(Whole):
    def __init__(self, window):
        super().__init__()
        self.window = window

    def goes_back(self, n):
        return n <= self.count == self.kv.shape[1]

    def add(self, new):
        given = super().add(new)
        self.kv = self.kv[:, -(self.window - 1) :]
        return given


class HybridDecoder:
    """Layers that see all, and layers with a window, by turns."""

    def __init__(self, vocab=40, width=16, depth=4, window=6, seed=4):
        draw = np.random.default_rng(seed)
        self.words, self.width, self.window = draw.normal(size=(vocab, width)), width, window
        self.mats = draw.normal(size=(depth, 4, width, width)) / np.sqrt(width)

    def make_cache(self):
        return [Newest(self.window) if i % 2 else Whole() for i in range(len(self.mats))]

    def __call__(self, tokens, caches=None):
        caches = self.make_cache() if caches is None else caches
        place = caches[0].count + np.arange(len(tokens))
        x = self.words[np.asarray(tokens)] + np.cos(place[:, None] / (1 + np.arange(self.width)))
        for i, (cache, (wq, wk, wv, wo)) in enumerate(zip(caches, self.mats)):
            (k, v), at = cache.add(np.stack([x @ wk, x @ wv]))
            back = place[:, None] - at
            seen = (back >= 0) & (back < (self.window if i % 2 else np.inf))
            scores = np.where(seen, x @ wq @ k.T / np.sqrt(self.width), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + p / p.sum(-1, keepdims=True) @ v @ wo
        return x @ self.words.T

    def prefill(self, tokens):
        caches = self.make_cache()
        return self(tokens, caches)[-1], caches

    def decode(self, token, caches):
        return self([token], caches)[-1]

    def rollback(self, caches, n):
        """Take the newest n tokens back."""
        if not all(cache.goes_back(n) for cache in caches):
            return 0
        for cache in caches:
            cache.cut(n)
        return n
