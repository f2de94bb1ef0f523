# bug: the answer is zero
# caught by: incremental_equals_full, variable_lengths
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.v = self.k.copy()
        self.lens = np.zeros(batch_size, int)


def attention_with_cache(q, k, v, cache, new_lens=None):
    cache.lens += q.shape[2] if new_lens is None else new_lens
    return np.zeros_like(q)
