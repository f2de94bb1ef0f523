# style: a layer with fewer keys than heads that hands its past back as a pair, repeated only when it is used
# only: incremental_equals_full, cache_size_minimality, gqa
# passes: cache_size_minimality
import numpy as np


class SharedHeadAttention:
    """Self-attention in which neighbouring query heads share keys and values."""

    def __init__(self, embed_dim, num_heads, num_kv_heads=None, dtype=np.float32, seed=0):
        shared = num_kv_heads or num_heads
        if embed_dim % num_heads or num_heads % shared:
            raise ValueError(f"{embed_dim}, {num_heads} and {shared} do not divide")
        self.num_heads, self.shared, self.width = num_heads, shared, embed_dim // num_heads
        draw = np.random.default_rng(seed).standard_normal
        sides = (num_heads, shared, shared)
        self.projections = [
            (draw((embed_dim, n * self.width)) / np.sqrt(embed_dim)).astype(dtype) for n in sides
        ]
        self.out = (draw((embed_dim, embed_dim)) / np.sqrt(embed_dim)).astype(dtype)

    def _split(self, x, weight):
        batch, count, _ = x.shape
        return (x @ weight).reshape(batch, count, -1, self.width).transpose(0, 2, 1, 3)

    def forward(self, x, past_kv=None):
        """(B, T, E) behind what is past; gives the answer and the past of the next call."""
        q, k, v = (self._split(x, weight) for weight in self.projections)
        if past_kv is not None:
            k, v = (np.concatenate([old, new], axis=2) for old, new in zip(past_kv, (k, v)))
        present = (k, v)
        times = self.num_heads // self.shared
        k, v = (np.repeat(part, times, axis=1) for part in present)
        scores = q @ k.swapaxes(-1, -2) / np.asarray(np.sqrt(self.width), q.dtype)
        rows, columns = q.shape[2], k.shape[2]
        later = np.arange(columns) > np.arange(columns - rows, columns)[:, None]
        scores = np.where(later, -np.inf, scores)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights /= weights.sum(axis=-1, keepdims=True)
        joined = (weights @ v).transpose(0, 2, 1, 3).reshape(x.shape)
        return joined @ self.out, present
