# bug: room is made where a call begins at a whole piece alone; one that begins inside and ends behind it has none
# caught by: chunked_prefill
# passes: growth
import numpy as np


class SteppedCache:
    """Keys and values (B, H, S, D); room is made for twelve tokens at a time."""

    STEP = 12

    def __init__(self):
        self.keys = self.values = None
        self.used = 0

    def update(self, k, v):
        """T tokens more; all keys and values so far."""
        end, have = self.used + k.shape[2], 0 if self.keys is None else self.keys.shape[2]
        if self.used % self.STEP == 0:
            more = -(-(end - have) // self.STEP) * self.STEP
            room = np.zeros((*k.shape[:2], max(more, 0), k.shape[3]), k.dtype)
            self.keys = room if self.keys is None else np.concatenate([self.keys, room], axis=2)
            self.values = room.copy() if self.values is None else np.concatenate([self.values, room], axis=2)
        self.keys[:, :, self.used : end], self.values[:, :, self.used : end] = k, v
        self.used = end
        return self.keys[:, :, :end], self.values[:, :, :end]


class CausalAttentionLayer:
    def __init__(self, d_model=32, num_heads=4, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.heads = num_heads
        self.weights = (rng.normal(size=(4, d_model, d_model)) / np.sqrt(d_model)).astype(dtype)

    def __call__(self, x, cache):
        """x (B, T, d_model): the next T tokens."""
        batch, count, _width = x.shape
        q, *new = ((x @ w).reshape(batch, count, self.heads, -1).swapaxes(1, 2) for w in self.weights[:3])
        start = cache.used
        k, v = cache.update(*new)
        scores = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1]).astype(x.dtype)
        scores = np.where(np.tri(count, start + count, start, dtype=bool), scores, -np.inf)
        p = np.exp(scores - scores.max(axis=-1, keepdims=True))
        p /= p.sum(axis=-1, keepdims=True)
        return (p @ v).swapaxes(1, 2).reshape(batch, count, -1) @ self.weights[3]

    def prefill(self, x, cache):
        return self(x, cache)

    def decode(self, x, cache):
        return self(x, cache)
