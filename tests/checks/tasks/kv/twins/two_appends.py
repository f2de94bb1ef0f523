# right: one method takes a step of all sequences, another the prompt of one
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, head_dim, max_len, dtype=np.float64):
        self._k = np.empty((batch_size, max_len, num_heads, head_dim), dtype)
        self._v = np.empty((batch_size, max_len, num_heads, head_dim), dtype)
        self._n = np.zeros(batch_size, np.int32)

    @property
    def lengths(self):
        return self._n.copy()

    @property
    def capacity(self):
        return self._k.shape[1]

    def append_step(self, k, v, active=None):
        """k, v: (B, H, D), one token per sequence; active (B,) bool: who gets one."""
        rows = np.arange(len(k)) if active is None else np.flatnonzero(active)
        if np.any(self._n[rows] >= self.capacity):
            raise OverflowError("no room in the KV cache")
        self._k[rows, self._n[rows]] = k[rows]
        self._v[rows, self._n[rows]] = v[rows]
        self._n[rows] += 1

    def append_prompt(self, b, k, v):
        """k, v: (T, H, D) of sequence b."""
        t = len(k)
        if self._n[b] + t > self.capacity:
            raise OverflowError("no room in the KV cache")
        self._k[b, self._n[b] : self._n[b] + t] = k
        self._v[b, self._n[b] : self._n[b] + t] = v
        self._n[b] += t

    def read(self):
        n = int(self._n.max(initial=0))
        return self._k[:, :n], self._v[:, :n], self._n


def attend(q: np.ndarray, cache: KVCache) -> np.ndarray:
    """q (B, H, D), the newest token of each sequence -> (B, H, D)."""
    k, v, n = cache.read()
    valid = np.arange(k.shape[1])[None, :] < n[:, None]            # (B, S)
    k = np.where(valid[:, :, None, None], k, 0)
    v = np.where(valid[:, :, None, None], v, 0)
    s = np.einsum("bhd,bshd->bhs", q, k) / np.sqrt(q.shape[-1])
    s = np.where(valid[:, None, :], s, -np.inf)
    s = s - s.max(-1, keepdims=True)
    p = np.exp(s)
    return np.einsum("bhs,bshd->bhd", p / p.sum(-1, keepdims=True), v)
