# bug: every sequence attends up to the longest one
# caught by: variable_lengths, isolation, capacity
import numpy as np


class BatchedKVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.seq_lens = np.zeros(batch_size, dtype=np.int64)

    def append(self, k, v, lengths):
        for b, n in enumerate(lengths):
            s = self.seq_lens[b]
            self.k[b, :, s:s + n] = k[b, :, :n]
            self.v[b, :, s:s + n] = v[b, :, :n]
        self.seq_lens += lengths

    def attend(self, q):
        S = self.seq_lens.max()
        s = np.einsum("bhtd,bhsd->bhts", q, self.k[:, :, :S]) / np.sqrt(q.shape[-1])
        w = np.exp(s - s.max(axis=-1, keepdims=True))
        return np.einsum("bhts,bhsd->bhtd", w / w.sum(axis=-1, keepdims=True), self.v[:, :, :S])
