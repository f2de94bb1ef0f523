# Sequences come by number; four-bit codes, odd head sizes padded; attention over what is kept.
# only: quantized
import numpy as np


def _pack(c):
    c = np.concatenate([c, np.zeros((*c.shape[:-1], c.shape[-1] % 2), c.dtype)], -1)
    return (c[..., 0::2] << 4) | c[..., 1::2]


def _unpack(b, width):
    return np.stack([b >> 4, b & 0x0F], -1).reshape(*b.shape[:-1], -1)[..., :width]


class Int4KVCache:
    def __init__(self, head_dim):
        self.head_dim = head_dim
        self.rows = {}

    def add(self, seq_id, key, value):
        """One token: key, value (heads, head_dim)."""
        self.rows.setdefault(seq_id, []).append((self._q(key), self._q(value)))

    def _q(self, x):
        lo, hi = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
        s = np.where(hi > lo, (hi - lo) / 15, 1).astype(np.float32)
        return _pack(np.rint((x - lo) / s).astype(np.uint8)), s, lo

    def _dq(self, packed):
        codes, s, lo = packed
        return _unpack(codes, self.head_dim) * s + lo

    def fetch(self, seq_id):
        """-> keys, values (heads, tokens, head_dim)"""
        pairs = self.rows[seq_id]
        return np.stack([self._dq(k) for k, _ in pairs], 1), np.stack([self._dq(v) for _, v in pairs], 1)

    def attend(self, query, seq_id):
        """query (heads, head_dim)"""
        keys, values = self.fetch(seq_id)
        s = (keys @ query[..., None])[..., 0] * self.head_dim**-0.5
        w = np.exp(s - s.max(-1, keepdims=True))
        w /= w.sum(-1, keepdims=True)
        return (w[:, None] @ values)[:, 0]
