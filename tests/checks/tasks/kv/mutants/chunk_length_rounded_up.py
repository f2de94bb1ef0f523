# bug: after a prompt in chunks its length counts whole chunks, so empty slots are attended to
# caught by: chunked_prefill
import numpy as np


class PaddedKVCache:
    def __init__(self, batch, num_heads, capacity, head_dim):
        self.room = capacity
        self.k = np.zeros((batch, num_heads, capacity + 64, head_dim))
        self.v = np.zeros((batch, num_heads, capacity + 64, head_dim))
        self.length = 0


def write(cache, k, v):
    n = k.shape[2]
    if cache.length + n > cache.room:
        raise ValueError("cache is full")
    cache.k[:, :, cache.length : cache.length + n] = k
    cache.v[:, :, cache.length : cache.length + n] = v
    cache.length += n


def attend(q, cache):
    k, v = cache.k[:, :, : cache.length], cache.v[:, :, : cache.length]
    s = np.matmul(q, k.transpose(0, 1, 3, 2)) / np.sqrt(q.shape[-1])
    first = cache.length - q.shape[2]
    s = np.where(np.arange(cache.length) <= first + np.arange(q.shape[2])[:, None], s, -np.inf)
    s = np.exp(s - s.max(-1, keepdims=True))
    return np.matmul(s / s.sum(-1, keepdims=True), v)


def prefill_by_chunks(cache, q, k, v, chunk_size):
    out = []
    for lo in range(0, q.shape[2], chunk_size):
        piece = slice(lo, lo + chunk_size)
        write(cache, k[:, :, piece], v[:, :, piece])
        out.append(attend(q[:, :, piece], cache))
    cache.length = -(-cache.length // chunk_size) * chunk_size
    return np.concatenate(out, axis=2)
