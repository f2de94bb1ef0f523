# bug: scores past the end are multiplied by zero instead of hidden
# caught by: variable_lengths, isolation
import numpy as np


class StaticKVCache:
    def __init__(self, max_batch_size, max_seq_len, n_kv_heads, head_dim):
        self.cache_k = np.zeros((max_batch_size, max_seq_len, n_kv_heads, head_dim), np.float32)
        self.cache_v = np.zeros((max_batch_size, max_seq_len, n_kv_heads, head_dim), np.float32)
        self.length = np.zeros(max_batch_size, np.int32)

    def forward(self, xq, xk, xv, seqlens):
        for b in range(len(xk)):
            s = self.length[b]
            self.cache_k[b, s:s + seqlens[b]] = xk[b, :seqlens[b]]
            self.cache_v[b, s:s + seqlens[b]] = xv[b, :seqlens[b]]
            self.length[b] += seqlens[b]
        n = self.length.max()
        valid = np.arange(n) < self.length[:, None]
        scores = np.einsum("bqhd,bkhd->bhqk", xq, self.cache_k[:, :n]) / np.sqrt(xq.shape[-1])
        scores = scores * valid[:, None, None, :]
        p = np.exp(scores - scores.max(-1, keepdims=True))
        return np.einsum("bhqk,bkhd->bqhd", p / p.sum(-1, keepdims=True), self.cache_v[:, :n])
