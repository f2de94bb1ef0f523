# right: keys and values go in as one array, keys first
import numpy as np


class KVStore:
    """One layer; put() takes one array."""

    def __init__(self, batch, num_heads, max_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch, num_heads, max_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.n = np.zeros(batch, int)

    def append(self, seq, kv: np.ndarray):
        assert kv.shape[0] == 2 and kv.ndim == 4
        k, v = kv[0], kv[1]
        t = k.shape[1]
        if self.n[seq] + t > self.k.shape[2]:
            raise ValueError("full")
        self.k[seq, :, self.n[seq] : self.n[seq] + t] = k
        self.v[seq, :, self.n[seq] : self.n[seq] + t] = v
        self.n[seq] += t

    def attend(self, seq, q):
        n = self.n[seq]
        k = self.k[seq, :, :n]
        v = self.v[seq, :, :n]
        t = q.shape[1]
        s = np.einsum("htd,hnd->htn", q, k) / np.sqrt(q.shape[-1])
        s = np.where(np.arange(n)[None, :] <= (n - t + np.arange(t))[:, None], s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("htn,hnd->htd", p, v)
