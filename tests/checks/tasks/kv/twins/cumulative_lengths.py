# right: tokens of all sequences behind each other, told by the running sums of their lengths; attention fused
# only: incremental_equals_full, variable_lengths, capacity
import numpy as np


class VarlenCache:
    """Keys and values of each sequence in a list of arrays (length, heads, head_dim)."""

    def __init__(self, num_seqs, num_heads, head_dim, dtype=np.float32):
        self.keys = [np.empty((0, num_heads, head_dim), dtype) for _ in range(num_seqs)]
        self.values = [np.empty((0, num_heads, head_dim), dtype) for _ in range(num_seqs)]

    def attention_step(self, q, k, v, cu_seqlens):
        """q, k, v (total, heads, head_dim); sequence b has rows cu_seqlens[b] to cu_seqlens[b + 1]."""
        if len(cu_seqlens) != len(self.keys) + 1 or cu_seqlens[-1] != len(k):
            raise ValueError("cu_seqlens does not describe the rows")
        out = np.zeros_like(q)
        for b, (lo, hi) in enumerate(zip(cu_seqlens[:-1], cu_seqlens[1:])):
            if lo == hi:
                continue
            self.keys[b] = np.concatenate([self.keys[b], k[lo:hi]])
            self.values[b] = np.concatenate([self.values[b], v[lo:hi]])
            total = len(self.keys[b])
            scores = np.einsum("qhd,khd->hqk", q[lo:hi], self.keys[b]) / np.sqrt(q.shape[-1])
            seen = np.arange(total) <= np.arange(total - (hi - lo), total)[:, None]
            scores = np.where(seen, scores, -np.inf)
            p = np.exp(scores - scores.max(-1, keepdims=True))
            p /= p.sum(-1, keepdims=True)
            out[lo:hi] = np.einsum("hqk,khd->qhd", p, self.values[b])
        return out
