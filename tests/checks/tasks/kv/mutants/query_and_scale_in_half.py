# bug: the query times the scale of each key is rounded to half precision before its product with the codes
# caught by: quantized
# only: quantized, capacity
import numpy as np


def coded(x):
    """Codes of rows, and their scales."""
    scale = np.maximum(np.abs(x).max(-1), 1e-30) / 127
    return np.rint(x / scale[..., None]).astype(np.int8), scale.astype(np.float32)


class Int8KVCache:
    """Rows of codes, (tokens, heads, width), and a scale for each."""

    def __init__(self, max_tokens, heads, head_dim):
        shape = (2, max_tokens, heads, head_dim)
        self.codes, self.scales = np.zeros(shape, np.int8), np.zeros(shape[:3], np.float32)
        self.n = 0

    def append(self, k, v):
        """A token, (heads, width) each."""
        if self.n == self.codes.shape[1]:
            raise IndexError("no room for another token")
        self.codes[:, self.n], self.scales[:, self.n] = coded(np.stack([k, v]).astype(np.float32))
        self.n += 1

    def read(self):
        k, v = self.codes[:, : self.n] * self.scales[:, : self.n, :, None]
        return k, v

    def attend(self, q):
        """The newest query, (heads, width); scales go with the query and the weights."""
        (k, v), (by_k, by_v) = self.codes[:, : self.n].astype(np.float32), self.scales[:, : self.n]
        folded = (q * by_k[..., None]).astype(np.float16)
        s = np.einsum("nhd,nhd->hn", folded, k) / q.shape[-1] ** 0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("hn,nhd->hd", p / p.sum(-1, keepdims=True) * by_v.T, v)
