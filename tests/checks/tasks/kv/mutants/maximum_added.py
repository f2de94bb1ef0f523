# bug: the largest score is added, not taken away: right until exp overflows
# caught by: incremental_equals_full
import numpy as np


class AttentionBlock:
    """Hidden vectors (B, T, E) in and out; keys and values are kept in the block."""

    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.heads = n_heads
        self.weights = {
            name: rng.standard_normal((d_model, d_model)) / np.sqrt(d_model) for name in ("q", "k", "v")
        }
        self.kept = None

    def prefill(self, hidden):
        self.kept = None
        return self._attend(hidden)

    def decode_step(self, hidden):
        return self._attend(hidden)

    def _attend(self, hidden):
        batch, count, width = hidden.shape
        q, k, v = (
            (hidden @ self.weights[name]).reshape(batch, count, self.heads, -1).swapaxes(1, 2)
            for name in ("q", "k", "v")
        )
        if self.kept is not None:
            k, v = (np.concatenate(pair, axis=2) for pair in zip(self.kept, (k, v), strict=True))
        self.kept = k, v
        scores = q @ k.swapaxes(2, 3) / np.sqrt(width // self.heads)
        scores = np.where(np.tri(count, k.shape[2], k.shape[2] - count, dtype=bool), scores, -np.inf)
        weights = np.exp(scores + scores.max(axis=-1, keepdims=True))
        mixed = weights @ v / weights.sum(axis=-1, keepdims=True)
        return mixed.swapaxes(1, 2).reshape(batch, count, width)
