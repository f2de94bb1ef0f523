# bug: the last slot is overwritten before the overflow is noticed
# caught by: capacity
import numpy as np


class ContiguousKVCache:
    def __init__(self, max_batch_size, max_seq_len, num_kv_heads, head_dim):
        self.k = np.zeros((max_batch_size, num_kv_heads, max_seq_len, head_dim), np.float32)
        self.v = np.zeros((max_batch_size, num_kv_heads, max_seq_len, head_dim), np.float32)
        self.length = 0

    def store(self, key, value):
        at = min(self.length, self.k.shape[2] - 1)
        self.k[:, :, at:at + 1] = key
        self.v[:, :, at:at + 1] = value
        if self.length >= self.k.shape[2]:
            raise RuntimeError("KV cache is full")
        self.length += 1

    def attend(self, query):
        k, v = self.k[:, :, :self.length], self.v[:, :, :self.length]
        s = np.einsum("...td,...sd->...ts", query, k) * query.shape[-1] ** -0.5
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("...ts,...sd->...td", p / p.sum(-1, keepdims=True), v)
