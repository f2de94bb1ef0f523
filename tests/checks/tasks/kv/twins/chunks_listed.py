# (batch, tokens, heads, width); an object made from chunk size and cache gives a list of its chunks' rows.
# passes: chunked_prefill
# skips: variable_lengths (takes no lengths)
from dataclasses import dataclass, field

import numpy as np


@dataclass
class SeqCache:
    batch: int
    max_tokens: int
    n_heads: int
    head_size: int
    dtype: type = np.float32
    used: int = 0
    kv: np.ndarray = field(init=False)

    def __post_init__(self):
        self.kv = np.zeros((2, self.batch, self.max_tokens, self.n_heads, self.head_size), self.dtype)

    def put(self, k, v):
        if self.used + k.shape[1] > self.max_tokens:
            raise OverflowError("cache holds no more")
        self.kv[:, :, self.used : self.used + k.shape[1]] = k, v
        self.used += k.shape[1]


def cached_attention(q, k, v, cache):
    cache.put(k, v)
    keys, values = cache.kv[:, :, : cache.used]
    w = np.einsum("bqhd,bkhd->bhqk", q, keys) / np.sqrt(q.shape[-1])
    late = np.arange(cache.used) > cache.used - q.shape[1] + np.arange(q.shape[1])[:, None]
    w = np.exp(np.where(late, -np.inf, w) - np.where(late, -np.inf, w).max(-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", w / w.sum(-1, keepdims=True), values)


class ChunkRunner:
    def __init__(self, cache, chunk_len):
        self.cache, self.chunk_len = cache, chunk_len

    def __call__(self, q, k, v):
        edges = range(0, q.shape[1], self.chunk_len)
        return [
            cached_attention(*(x[:, e : e + self.chunk_len] for x in (q, k, v)), self.cache) for e in edges
        ]
