# style: update() counts by itself; advance() is there, for padding, and not needed
# skips: variable_lengths (no call takes lengths), gqa, paged, quantized, memory_model
import numpy as np

class KVCache:
    """update() moves the position by itself; advance() skips positions (left padding)."""
    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.pos = 0
    def update(self, k, v):
        e = self.pos + k.shape[2]
        if e > self.k.shape[2]: raise ValueError("full")
        self.k[:, :, self.pos:e], self.v[:, :, self.pos:e] = k, v
        self.pos = e
        return self.k[:, :, :e], self.v[:, :, :e]
    def advance(self, n):
        self.pos += n

def attention(q, k, v):
    s = q @ k.swapaxes(-2, -1) / np.sqrt(q.shape[-1])
    t, n = s.shape[-2:]
    s = np.where(np.tril(np.ones((t, n), bool), n - t), s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True) @ v
