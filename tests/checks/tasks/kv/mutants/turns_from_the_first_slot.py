# bug: a later turn is written from the first slot on, over the turns before it, which it does not see
# caught by: chunked_prefill
# only: chunked_prefill, incremental_equals_full
import numpy as np


class Room:
    def __init__(self, heads, room, width):
        self.keys = np.zeros((heads, room, width))
        self.values = np.zeros((heads, room, width))
        self.used = 0


class Layer:
    def __init__(self, d_model, n_heads, seed=0):
        rng = np.random.default_rng(seed)
        self.n_heads, self.d_head = n_heads, d_model // n_heads
        self.wq, self.wk, self.wv, self.wo = rng.normal(0, d_model**-0.5, (4, d_model, d_model))

    def new_cache(self, max_len):
        return Room(self.n_heads, max_len, self.d_head)

    def _at(self, x, cache, start):
        n = len(x)
        q, k, v = ((x @ w).reshape(n, self.n_heads, -1).swapaxes(0, 1) for w in (self.wq, self.wk, self.wv))
        end = start + n
        if end > cache.keys.shape[1]:
            raise ValueError(f"no room for {end} tokens")
        cache.keys[:, start:end], cache.values[:, start:end] = k, v
        cache.used = max(cache.used, end)
        s = q @ cache.keys[:, :end].swapaxes(1, 2) / np.sqrt(self.d_head)
        s[:, np.arange(end) > np.arange(start, end)[:, None]] = -np.inf
        p = np.exp(s - s.max(-1, keepdims=True))
        out = p / p.sum(-1, keepdims=True) @ cache.values[:, :end]
        return out.swapaxes(0, 1).reshape(n, -1) @ self.wo

    def prefill(self, x, cache, chunk_size=None):
        """The rows x (T, d_model) of a prompt, or of a later turn, piece by piece."""
        size = chunk_size or len(x)
        return np.concatenate([self._at(x[i : i + size], cache, i) for i in range(0, len(x), size)])

    def decode_step(self, x, cache):
        """One more row x (d_model,)."""
        return self._at(x[None], cache, cache.used)[0]
