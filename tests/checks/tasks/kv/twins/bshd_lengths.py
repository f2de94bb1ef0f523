# (batch, tokens, heads, width) with a length per sequence; padding is masked by -inf.
import numpy as np


class RingFreeCache:
    """Static cache in BSHD."""

    def __init__(self, max_batch, max_len, n_kv_heads, head_dim, dtype=np.float64):
        self.store_k = np.zeros((max_batch, max_len, n_kv_heads, head_dim), dtype=dtype)
        self.store_v = np.zeros_like(self.store_k)
        self.lens = np.zeros(max_batch, dtype=int)

    def insert(self, new_keys, new_values, n_new=None):
        B, T = new_keys.shape[:2]
        n_new = np.full(B, T) if n_new is None else np.asarray(n_new)
        if (self.lens + n_new > self.store_k.shape[1]).any():
            raise OverflowError("the cache is full")
        for b in range(B):
            at = slice(self.lens[b], self.lens[b] + n_new[b])
            self.store_k[b, at] = new_keys[b, :n_new[b]]
            self.store_v[b, at] = new_values[b, :n_new[b]]
        self.lens = self.lens + n_new

    def attend(self, queries):
        B, T, H, D = queries.shape
        longest = self.lens.max()
        s = np.einsum("bthd,bshd->bhts", queries, self.store_k[:, :longest]) / np.sqrt(D)
        reach = self.lens[:, None] - T + np.arange(T)[None, :]
        hidden = np.arange(longest)[None, None, :] > np.minimum(reach, self.lens[:, None] - 1)[:, :, None]
        hidden[:, :, 0] = False
        s = np.where(hidden[:, None], -np.inf, s)
        w = np.exp(s - s.max(axis=-1, keepdims=True))
        w = w / w.sum(axis=-1, keepdims=True)
        return np.einsum("bhts,bshd->bthd", w, np.where(hidden.all(1)[:, :, None, None], 0, self.store_v[:, :longest]))
