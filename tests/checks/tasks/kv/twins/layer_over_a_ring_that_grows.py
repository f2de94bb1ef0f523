# style: a layer over a ring that grows by steps of 32 up to its window
# warns: capacity (a window forgets)
# only: capacity, incremental_equals_full
import numpy as np

STEP = 32


class RotatingKVCache:
    """Keys and values of the newest ``window`` tokens, (B, H, window, D); room grows by STEP up to that."""

    def __init__(self, batch, heads, head_dim, window, dtype=np.float32):
        self.batch, self.heads, self.head_dim, self.window, self.dtype = batch, heads, head_dim, window, dtype
        self.k = np.zeros((batch, heads, min(STEP, window), head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.seen = 0

    def _grow(self, needed):
        room = self.k.shape[2]
        while room < min(needed, self.window):
            room = min(room + STEP, self.window)
        if room > self.k.shape[2]:
            extra = np.zeros((self.batch, self.heads, room - self.k.shape[2], self.head_dim), self.dtype)
            self.k, self.v = np.concatenate([self.k, extra], 2), np.concatenate([self.v, extra], 2)

    def append(self, k, v):
        """k, v: (B, H, T, D)."""
        count = k.shape[2]
        self._grow(self.seen + count)
        first = max(0, count - self.window)
        places = (self.seen + np.arange(first, count)) % self.window
        self.k[:, :, places], self.v[:, :, places] = k[:, :, first:], v[:, :, first:]
        self.seen += count

    def ordered(self):
        n = min(self.seen, self.window)
        places = np.arange(self.seen - n, self.seen) % self.window
        return self.k[:, :, places], self.v[:, :, places]


def attend(q, k, v, mask=None):
    s = q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])
    if mask is not None:
        s = np.where(mask, s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


class SlidingWindowLayer:
    def __init__(self, d_model, num_heads, window, seed=0):
        rng = np.random.default_rng(seed)
        self.d_model, self.num_heads, self.window = d_model, num_heads, window
        self.w_qkv = rng.normal(size=(d_model, 3 * d_model)) * d_model**-0.5
        self.w_o = rng.normal(size=(d_model, d_model)) * d_model**-0.5

    def new_cache(self, batch):
        return RotatingKVCache(batch, self.num_heads, self.d_model // self.num_heads, self.window, np.float64)

    def _run(self, x, cache):
        batch, count, width = x.shape
        q, k, v = (x @ self.w_qkv).reshape(batch, count, 3, self.num_heads, -1).transpose(2, 0, 3, 1, 4)
        old_k, old_v = cache.ordered()
        past = old_k.shape[2]
        ago = past + np.arange(count)[:, None] - np.arange(past + count)
        seen = (ago >= 0) & (ago < self.window)
        out = attend(q, np.concatenate([old_k, k], 2), np.concatenate([old_v, v], 2), seen)
        cache.append(k, v)
        return out.swapaxes(1, 2).reshape(batch, count, width) @ self.w_o

    def prefill(self, x, cache):
        return self._run(x, cache)

    def decode(self, x, cache):
        return self._run(x, cache)
