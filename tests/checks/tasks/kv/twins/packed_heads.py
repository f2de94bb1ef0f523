# (batch, tokens, heads * width) in and out; one buffer for K and V; writes at a given position.
# skips: variable_lengths (one position for the whole batch)
import numpy as np


class PackedKVCache:
    def __init__(self, batch_size, max_seq_len, num_heads, head_dim, dtype=np.float32):
        self.h, self.d = num_heads, head_dim
        self.kv = np.empty((batch_size, max_seq_len, 2, num_heads * head_dim), dtype)
        self.end = 0

    def write(self, pos, k, v):
        T = k.shape[1]
        if pos + T > self.kv.shape[1]:
            raise IndexError("past the end")
        self.kv[:, pos:pos + T, 0], self.kv[:, pos:pos + T, 1] = k, v
        self.end = pos + T

    def attend(self, q):
        B, T, _ = q.shape
        heads = lambda x: x.reshape(B, -1, self.h, self.d).transpose(0, 2, 1, 3)
        k, v = heads(self.kv[:, :self.end, 0]), heads(self.kv[:, :self.end, 1])
        s = heads(q) @ k.transpose(0, 1, 3, 2) / np.sqrt(self.d)
        s += np.triu(np.full((T, self.end), -np.inf), self.end - T + 1)
        s = np.exp(s - s.max(-1, keepdims=True))
        o = (s / s.sum(-1, keepdims=True)) @ v
        return o.transpose(0, 2, 1, 3).reshape(B, T, self.h * self.d)
