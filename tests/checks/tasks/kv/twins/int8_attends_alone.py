# style: eight-bit codes of one sequence that are never handed out: the cache attends over them itself
# skips: incremental_equals_full
# only: quantized, incremental_equals_full
"""INT8 cache that never hands the stored tensors out: it only attends."""
import numpy as np


class QuantizedKVCache:
    def __init__(self, n_heads, head_dim, max_len=256):
        self.H, self.D, self.max_len = n_heads, head_dim, max_len
        self.codes = np.zeros((2, n_heads, max_len, head_dim), np.int8)
        self.scales = np.zeros((2, n_heads, max_len), np.float32)
        self.n = 0

    def append(self, k, v):
        """k, v: (n_heads, head_dim) of one token."""
        if self.n == self.max_len:
            raise IndexError("cache is full")
        for i, x in enumerate((k, v)):
            s = np.maximum(np.abs(x).max(-1), 1e-12) / 127
            self.codes[i, :, self.n] = np.rint(x / s[:, None]).astype(np.int8)
            self.scales[i, :, self.n] = s
        self.n += 1

    def attend(self, q):
        """q: (n_heads, head_dim) -> (n_heads, head_dim), softmax in float32 on the fly."""
        kq, vq = self.codes[0, :, :self.n], self.codes[1, :, :self.n]
        s = np.einsum("hd,hnd->hn", q, kq.astype(np.float32)) * self.scales[0, :, :self.n] / np.sqrt(self.D)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("hn,hnd->hd", p * self.scales[1, :, :self.n], vq.astype(np.float32))

    @property
    def nbytes(self):
        return self.codes.nbytes + self.scales.nbytes


