# bug: a prompt is written from the first slot on, whatever the cache holds already
# caught by: chunked_prefill, incremental_equals_full
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.length = 0


class CachedAttention:
    """Causal attention over a cache; a prompt may come in several parts."""

    def __init__(self, cache):
        self.cache = cache

    def prefill(self, q, k, v):
        """The next part of a prompt, (B, H, T, D) each."""
        cache, t = self.cache, k.shape[2]
        cache.k[:, :, :t], cache.v[:, :, :t] = k, v
        cache.length += t
        return self._attend(q)

    def decode(self, q, k, v):
        """One token, (B, H, 1, D) each."""
        cache = self.cache
        cache.k[:, :, cache.length], cache.v[:, :, cache.length] = k[:, :, 0], v[:, :, 0]
        cache.length += 1
        return self._attend(q)

    def _attend(self, q):
        n, t = self.cache.length, q.shape[2]
        keys, values = self.cache.k[:, :, :n], self.cache.v[:, :, :n]
        seen = np.arange(n) <= np.arange(n - t, n)[:, None]
        s = np.where(seen, q @ keys.swapaxes(2, 3) / np.sqrt(q.shape[3]), -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return p / p.sum(-1, keepdims=True) @ values
