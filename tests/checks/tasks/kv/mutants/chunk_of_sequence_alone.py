# bug: a chunk of a sequence sees itself and the first chunk, and none between
# caught by: chunked_prefill
import numpy as np


class ConversationCache:
    """KV cache of conversations, each opened under a number of its own."""

    def __init__(self, num_heads, head_dim, dtype=np.float32):
        self.heads, self.dim, self.dtype = num_heads, head_dim, dtype
        self.kept = {}

    def open_sequence(self, seq_id):
        self.kept[seq_id] = [np.zeros((0, self.heads, self.dim), self.dtype) for _ in range(2)]

    def append(self, seq_id, k, v):
        """k, v: (T, H, D)"""
        held = self.kept[seq_id]
        held[0], held[1] = np.vstack([held[0], k]), np.vstack([held[1], v])

    def read(self, seq_id):
        return tuple(self.kept[seq_id])

    def close_sequence(self, seq_id):
        self.kept.pop(seq_id)


def _softmax(x):
    x = np.exp(x - x.max(axis=-1, keepdims=True))
    return x / x.sum(axis=-1, keepdims=True)


def attend(q, cache, seq_id):
    k, v = cache.read(seq_id)
    scores = np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1])
    late = np.arange(len(k))[None] > np.arange(len(k) - len(q), len(k))[:, None]
    return np.einsum("hts,shd->thd", _softmax(np.where(late, -np.inf, scores)), v)


def chunked_prefill(q, k, v, cache, seq_id, chunk_size):
    """q, k, v: (T, H, D), the prompt of one conversation."""
    out = np.zeros_like(q)
    for start in range(0, len(q), chunk_size):
        end = min(start + chunk_size, len(q))
        cache.append(seq_id, k[start:end], v[start:end])
        keys, values = cache.read(seq_id)
        scores = np.einsum("thd,shd->hts", q[start:end], keys) / np.sqrt(q.shape[-1])
        row, col = np.arange(start, end)[:, None], np.arange(end)[None]
        seen = (col <= row) & ((col >= start) | (col < chunk_size))
        out[start:end] = np.einsum("hts,shd->thd", _softmax(np.where(seen, scores, -np.inf)), values)
    return out
