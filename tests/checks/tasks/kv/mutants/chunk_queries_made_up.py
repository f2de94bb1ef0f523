# bug: the queries of a prompt in chunks are drawn at random
# caught by: chunked_prefill
import numpy as np


class KVCache:
    def __init__(self, batch, heads, max_len, head_dim):
        self.k = np.zeros((batch, heads, max_len, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.n = 0

    def append(self, k, v):
        end = self.n + k.shape[2]
        if end > self.k.shape[2]:
            raise ValueError("full")
        self.k[:, :, self.n : end], self.v[:, :, self.n : end] = k, v
        self.n = end


def cached_attention(q, cache):
    k, v = cache.k[:, :, : cache.n], cache.v[:, :, : cache.n]
    s = q @ k.swapaxes(2, 3) / np.sqrt(q.shape[-1])
    t = q.shape[2]
    s = np.where(np.arange(cache.n) <= np.arange(cache.n - t, cache.n)[:, None], s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return p / p.sum(-1, keepdims=True) @ v


class ChunkedPrefiller:
    def __init__(self, chunk_size=16):
        self.chunk_size = chunk_size

    def process(self, keys, values, cache):
        rng = np.random.default_rng()
        out = []
        for at in range(0, keys.shape[2], self.chunk_size):
            k = keys[:, :, at : at + self.chunk_size]
            cache.append(k, values[:, :, at : at + self.chunk_size])
            out.append(cached_attention(rng.normal(size=k.shape), cache))
        return np.concatenate(out, 2)
