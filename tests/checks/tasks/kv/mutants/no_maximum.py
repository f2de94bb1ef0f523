# bug: the softmax leaves the maximum out, and large scores overflow
# caught by: incremental_equals_full
import numpy as np


class KVCache:
    def __init__(self, num_heads, max_len, head_dim):
        """One sequence."""
        self.k, self.v = np.zeros((2, num_heads, max_len, head_dim), np.float32)
        self.length = 0

    def push(self, key, value):
        self.k[:, self.length], self.v[:, self.length] = key, value
        self.length += 1

    def attend(self, query):
        with np.errstate(all="ignore"):
            w = np.exp(np.einsum("hd,hsd->hs", query, self.k[:, :self.length]) / np.sqrt(np.float32(query.shape[-1])))
            return np.einsum("hs,hsd->hd", w / w.sum(-1, keepdims=True), self.v[:, :self.length])
