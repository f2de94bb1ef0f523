# right: prompts go in row by row, steps are for rows of one length and refuse others
# skips: variable_lengths (rows of different lengths are refused)
import numpy as np


class KVCache:
    def __init__(self, batch_size, n_heads, head_dim, max_seq_len, dtype=np.float32):
        self.k = np.zeros((batch_size, n_heads, max_seq_len, head_dim), dtype)
        self.v = np.zeros_like(self.k)
        self.lens = np.zeros(batch_size, int)


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def attention_prefill(cache, seq_idx, query, key, value):
    start, end = cache.lens[seq_idx], cache.lens[seq_idx] + key.shape[1]
    if end > cache.k.shape[2]:
        raise ValueError("full")
    cache.k[seq_idx, :, start:end], cache.v[seq_idx, :, start:end] = key, value
    cache.lens[seq_idx] = end
    s = query @ cache.k[seq_idx, :, :end].swapaxes(1, 2) / np.sqrt(query.shape[2])
    s += np.where(np.arange(end) > np.arange(start, end)[:, None], -np.inf, 0)
    return softmax(s) @ cache.v[seq_idx, :, :end]


def attention_step(cache, query, key, value):
    if len(set(cache.lens.tolist())) != 1:
        raise NotImplementedError(f"rows of lengths {cache.lens.tolist()}")
    n = cache.lens[0]
    if n == cache.k.shape[2]:
        raise ValueError("full")
    cache.k[:, :, n], cache.v[:, :, n] = key, value
    cache.lens += 1
    s = np.einsum("bhd,bhsd->bhs", query, cache.k[:, :, : n + 1]) / np.sqrt(query.shape[2])
    return np.einsum("bhs,bhsd->bhd", softmax(s), cache.v[:, :, : n + 1])
