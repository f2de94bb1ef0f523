# style: a prompt is taken by an empty cache alone, and refused by one that holds something
# skips: variable_lengths (no call takes lengths), chunked_prefill, gqa, paged, quantized, memory_model
import numpy as np


class KVCache:
    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        self.k = np.zeros((batch_size, num_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.n = 0


def _attention(q, k, v, mask=None):
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) / np.sqrt(q.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("bhqk,bhkd->bhqd", p / p.sum(axis=-1, keepdims=True), v)


def prefill(q, k, v, cache):
    """The whole prompt, (B, H, T, D), once, at the start."""
    if cache.n:
        raise RuntimeError(f"prefill needs an empty cache, this one holds {cache.n} tokens")
    t = k.shape[2]
    if t > cache.k.shape[2]:
        raise ValueError("the prompt is longer than the cache")
    cache.k[:, :, :t], cache.v[:, :, :t], cache.n = k, v, t
    return _attention(q, k, v, np.tril(np.ones((t, t), bool)))


def decode_step(q, k, v, cache):
    """One token, (B, H, 1, D)."""
    if k.shape[2] != 1:
        raise ValueError("decode_step takes one token")
    if cache.n == cache.k.shape[2]:
        raise ValueError("the cache is full")
    cache.k[:, :, cache.n], cache.v[:, :, cache.n] = k[:, :, 0], v[:, :, 0]
    cache.n += 1
    return _attention(q, cache.k[:, :, : cache.n], cache.v[:, :, : cache.n])
