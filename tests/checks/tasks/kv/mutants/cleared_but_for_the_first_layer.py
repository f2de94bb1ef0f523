# bug: the first layer is left as it was
# caught by: incremental_equals_full
# passes: size
import numpy as np


class LayeredCache:
    """Keys and values of each layer, (H, T, D), and how many tokens were seen."""

    def __init__(self, n_layers):
        self.layers = [None] * n_layers
        self.seen = 0

    def update(self, layer, k, v):
        if layer == 0 and k.shape[1]:
            self.seen = 0 if self.layers[0] is None else self.layers[0][0].shape[1]
        if self.layers[layer] is not None:
            k, v = (np.concatenate(both, axis=1) for both in zip(self.layers[layer], (k, v)))
        self.layers[layer] = k, v
        return k, v

    def reset(self):
        self.layers[1:] = [None] * (len(self.layers) - 1)


def turned(x, start):
    """Rotary embedding of (H, T, D) whose first token stands at `start`."""
    half = x.shape[-1] // 2
    angles = (start + np.arange(x.shape[1]))[:, None] / 10_000.0 ** (np.arange(half) / half)
    one, other = x[..., :half], x[..., half:]
    return np.concatenate([one * np.cos(angles) - other * np.sin(angles),
                           one * np.sin(angles) + other * np.cos(angles)], axis=-1)  # fmt: skip


class TinyDecoder:
    def __init__(self, vocab_size, d_model, n_heads, n_layers, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.n_layers = n_heads, n_layers
        self.embed = rng.standard_normal((vocab_size, d_model))
        self.weights = rng.standard_normal((n_layers, 4, d_model, d_model)) / np.sqrt(d_model)
        self.cache = LayeredCache(n_layers)
        self.unembed = rng.standard_normal((d_model, vocab_size)) / np.sqrt(d_model)

    def _split(self, x):
        return x.reshape(len(x), self.heads, -1).swapaxes(0, 1)

    def _forward(self, ids, cache):
        x = self.embed[np.asarray(ids)]
        for layer, (wq, wk, wv, wo) in enumerate(self.weights):
            start = 0 if cache.layers[layer] is None else cache.layers[layer][0].shape[1]
            q, k = (turned(self._split(x @ w), start) for w in (wq, wk))
            k, v = cache.update(layer, k, self._split(x @ wv))
            first = k.shape[1] - len(x)
            seen = np.arange(k.shape[1]) <= first + np.arange(len(x))[:, None]
            scores = np.where(seen, q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]), -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            x = x + (p / p.sum(-1, keepdims=True) @ v).swapaxes(0, 1).reshape(x.shape) @ wo
        return x[-1] @ self.unembed

    def prefill(self, token_ids):
        """Logits behind a new prompt."""
        self.cache.reset()
        return self._forward(token_ids, self.cache)

    def decode_step(self, token_id):
        return self._forward([token_id], self.cache)
