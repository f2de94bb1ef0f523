# style: attention over the cache asks its caller for the scale
# skips: variable_lengths (one length for all)
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.data = np.zeros((2, batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.length = 0

    def append(self, k, v):
        end = self.length + k.shape[2]
        if end > self.data.shape[3]:
            raise ValueError(f"{end} tokens do not fit into {self.data.shape[3]}")
        self.data[:, :, :, self.length : end] = k, v
        self.length = end


def attend(q, cache, softmax_scale):
    k, v = cache.data[:, :, :, : cache.length]
    s = softmax_scale * (q @ k.swapaxes(-2, -1))
    behind = np.arange(cache.length) > cache.length - q.shape[2] + np.arange(q.shape[2])[:, None]
    s = np.where(behind, -np.inf, s)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v
