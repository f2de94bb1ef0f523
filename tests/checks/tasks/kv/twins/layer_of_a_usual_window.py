# style: a layer with a window that has a default, and a length that the cache is refused past
# only: incremental_equals_full, capacity, chunked_prefill
import numpy as np


class SlidingWindowAttention:
    def __init__(self, hidden_size, num_heads, max_seq_len, window=5, seed=0, dtype=np.float32):
        rng = np.random.default_rng(seed)
        self.num_heads, self.window, self.max_seq_len, self.dtype = num_heads, window, max_seq_len, dtype
        self.wq, self.wk, self.wv, self.wo = (
            (rng.standard_normal((hidden_size, hidden_size)) * hidden_size**-0.5).astype(dtype)
            for _ in range(4)
        )

    def init_cache(self, batch_size):
        width = self.wq.shape[0] // self.num_heads
        shape = (batch_size, self.num_heads, self.max_seq_len, width)
        return {"k": np.zeros(shape, self.dtype), "v": np.zeros(shape, self.dtype), "length": 0}

    def __call__(self, x, cache):
        """x: (B, T, hidden_size), behind the cache; gives the output, and changes the cache."""
        start, end = cache["length"], cache["length"] + x.shape[1]
        if end > self.max_seq_len:
            raise ValueError(f"{end} tokens, and room for {self.max_seq_len}")
        q, k, v = (self._split(x @ w) for w in (self.wq, self.wk, self.wv))
        cache["k"][:, :, start:end], cache["v"][:, :, start:end] = k, v
        cache["length"] = end
        ago = np.arange(start, end)[:, None] - np.arange(end)
        scores = q @ cache["k"][:, :, :end].swapaxes(-1, -2) * q.shape[-1] ** -0.5
        scores = np.where((ago >= 0) & (ago < self.window), scores, -np.inf)
        weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
        out = weights / weights.sum(axis=-1, keepdims=True) @ cache["v"][:, :, :end]
        return out.swapaxes(1, 2).reshape(x.shape) @ self.wo

    def _split(self, x):
        return x.reshape(*x.shape[:2], self.num_heads, -1).swapaxes(1, 2)
