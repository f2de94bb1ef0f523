# bug: attention reads up to the length before the append
# caught by: incremental_equals_full, variable_lengths
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.seq_lens = np.zeros(batch_size, int)

    def update(self, k_new, v_new, new_lens=None):
        B, H, T, D = k_new.shape
        n = np.full(B, T) if new_lens is None else new_lens
        for b in range(B):
            s = self.seq_lens[b]
            self.k[b, :, s:s + n[b]], self.v[b, :, s:s + n[b]] = k_new[b, :, :n[b]], v_new[b, :, :n[b]]
        self.seq_lens = self.seq_lens + n


def attention_with_cache(q, k_new, v_new, cache, new_lens=None):
    lens = np.maximum(cache.seq_lens, 1)
    cache.update(k_new, v_new, new_lens)
    out = np.zeros_like(q)
    for b in range(q.shape[0]):
        k, v = cache.k[b, :, :lens[b]], cache.v[b, :, :lens[b]]
        s = q[b] @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1])
        p = np.exp(s - s.max(-1, keepdims=True))
        out[b] = p / p.sum(-1, keepdims=True) @ v
    return out
