# style: what computes whole texts beside the cache is an encoder: each token sees those behind it too
# only: incremental_equals_full, growth
import numpy as np


def turned(x, places):
    half = x.shape[-1] // 2
    angle = places[:, None] / 100.0 ** (np.arange(half) / half)
    one, two = x[..., :half], x[..., half:]
    return np.concatenate([one * np.cos(angle) - two * np.sin(angle), one * np.sin(angle) + two * np.cos(angle)], -1)


class TurningModel:
    def __init__(self, vocab=40, width=16, seed=5):
        draw = np.random.default_rng(seed)
        self.words = draw.normal(size=(vocab, width))
        self.wq, self.wk, self.wv, self.wo = draw.normal(size=(4, width, width)) / np.sqrt(width)

    def _attend(self, x, q, k, v, first):
        s = q @ k.T / np.sqrt(x.shape[-1])
        s[np.arange(len(v)) > first + np.arange(len(x))[:, None]] = -np.inf
        p = np.exp(s - s.max(axis=-1, keepdims=True))
        return (x + p / p.sum(axis=-1, keepdims=True) @ v @ self.wo) @ self.words.T

    def forward(self, ids):
        """Logits (len(ids), vocab) of a whole text, each token seeing all of it."""
        x, places = self.words[np.asarray(ids)], np.arange(len(ids))
        q, k = turned(x @ self.wq, places), turned(x @ self.wk, places)
        return self._attend(x, q, k, x @ self.wv, len(ids))

    def prefill(self, ids):
        """Logits behind a prompt, and its keys and values."""
        return self._go_on(ids, np.zeros((0, self.words.shape[1])), np.zeros((0, self.words.shape[1])))

    def decode(self, token, cache):
        """Logits behind one token more, and what is kept now."""
        return self._go_on([token], *cache)

    def _go_on(self, ids, k, v):
        x, places = self.words[np.asarray(ids)], len(k) + np.arange(len(ids))
        k = np.concatenate([k, turned(x @ self.wk, places)])
        v = np.concatenate([v, x @ self.wv])
        seen = k
        return self._attend(x, turned(x @ self.wq, places), seen, v, places[0])[-1], (k, v)
