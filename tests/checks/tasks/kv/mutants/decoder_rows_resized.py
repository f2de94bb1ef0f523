# bug: a decoder's cache gets more room by np.resize, which repeats the numbers in memory order
# caught by: incremental_equals_full
# only: incremental_equals_full, cache_size_minimality
import numpy as np


class Decoder:
    """Attention blocks over token ids, with a cache that holds all layers and grows by 40 tokens."""

    def __init__(self, vocab_size=40, d_model=24, num_heads=3, num_layers=2, seed=0):
        rng = np.random.default_rng(seed)
        self.heads, self.width, self.depth = num_heads, d_model // num_heads, num_layers
        self.table = rng.standard_normal((vocab_size, d_model))
        self.weights = rng.standard_normal((num_layers, 4, d_model, d_model)) / np.sqrt(d_model)

    def reset(self, batch):
        self.kept = np.zeros((self.depth, 2, batch, self.heads, 40, self.width))
        self.length = 0

    def _run(self, ids):
        b, t = ids.shape
        end = self.length + t
        if end > self.kept.shape[4]:
            room = -(-end // 40) * 40
            self.kept = np.resize(self.kept, (*self.kept.shape[:4], room, self.width))
        x = self.table[ids] + np.sin(0.3 * np.arange(self.length, end))[:, None]
        hidden = np.arange(end)[None, :] > np.arange(self.length, end)[:, None]
        for kept, (wq, wk, wv, wo) in zip(self.kept, self.weights):
            q, k, v = ((x @ w).reshape(b, t, self.heads, -1).swapaxes(1, 2) for w in (wq, wk, wv))
            kept[0, :, :, self.length:end], kept[1, :, :, self.length:end] = k, v
            s = np.where(hidden, -np.inf, q @ kept[0, :, :, :end].swapaxes(-1, -2) / np.sqrt(self.width))
            p = np.exp(s - s.max(axis=-1, keepdims=True))
            out = p / p.sum(axis=-1, keepdims=True) @ kept[1, :, :, :end]
            x = np.tanh(x + out.swapaxes(1, 2).reshape(b, t, -1) @ wo)
        self.length = end
        return x @ self.table.T

    def prefill(self, ids):
        """ids (B, T) -> logits (B, T, V); starts anew."""
        self.reset(ids.shape[0])
        return self._run(ids)

    def decode_step(self, ids):
        """ids (B,) -> logits (B, V)."""
        return self._run(ids[:, None])[:, 0]
