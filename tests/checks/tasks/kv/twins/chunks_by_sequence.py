# style: prompts go in sequence by sequence, each in chunks of its own
# passes: chunked_prefill
# skips: gqa, paged, quantized, memory_model
import numpy as np


class SequenceKVCache:
    def __init__(self, batch_size, max_seq_len, num_heads, head_dim):
        self.k = np.zeros((batch_size, max_seq_len, num_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.lens = [0] * batch_size

    def append(self, seq_idx, k, v):
        """k, v: (T, H, D)"""
        at = self.lens[seq_idx]
        if at + len(k) > self.k.shape[1]:
            raise ValueError(f"sequence {seq_idx} is full")
        self.k[seq_idx, at : at + len(k)] = k
        self.v[seq_idx, at : at + len(v)] = v
        self.lens[seq_idx] += len(k)

    def get(self, seq_idx):
        n = self.lens[seq_idx]
        return self.k[seq_idx, :n], self.v[seq_idx, :n]


def attend(q, cache, seq_idx):
    """q: (T, H, D), the newest T tokens of the sequence."""
    k, v = cache.get(seq_idx)
    s = np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1])
    seen = np.arange(len(k))[None] <= np.arange(len(k) - len(q), len(k))[:, None]
    s = np.where(seen, s, -np.inf)
    e = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hts,shd->thd", e / e.sum(-1, keepdims=True), v)


def prefill_in_chunks(cache, seq_idx, q, k, v, chunk_size):
    """One sequence's prompt, (T, H, D) each, chunk_size tokens at a time. Returns (T, H, D)."""
    rows = []
    for start in range(0, len(q), chunk_size):
        now = slice(start, start + chunk_size)
        cache.append(seq_idx, k[now], v[now])
        rows.append(attend(q[now], cache, seq_idx))
    return np.concatenate(rows)
