# bug: the weights of all heads are averaged before they meet the values
# caught by: incremental_equals_full, variable_lengths
import numpy as np


class SlotCache:
    def __init__(self, batch_size, num_heads, max_len, head_dim):
        self.keys = np.zeros((batch_size, num_heads, max_len, head_dim))
        self.values = np.zeros((batch_size, num_heads, max_len, head_dim))
        self.lens = np.zeros(batch_size, int)

    def append(self, k, v, lengths=None):
        lengths = np.full(len(k), k.shape[2]) if lengths is None else lengths
        for b, n in enumerate(lengths):
            at = slice(self.lens[b], self.lens[b] + n)
            if at.stop > self.keys.shape[2]:
                raise ValueError("cache is full")
            self.keys[b, :, at], self.values[b, :, at] = k[b, :, :n], v[b, :, :n]
        self.lens = self.lens + lengths

    def get(self, seq_id):
        n = self.lens[seq_id]
        return self.keys[seq_id, :, :n], self.values[seq_id, :, :n]


def cached_attention(query, cache):
    out = np.zeros(query.shape)
    for b in range(len(query)):
        k, v = cache.get(b)
        s = query[b] @ k.swapaxes(1, 2) / np.sqrt(query.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        p = (p / p.sum(-1, keepdims=True)).mean(0, keepdims=True)
        out[b] = p @ v
    return out
