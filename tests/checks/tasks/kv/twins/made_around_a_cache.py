# style: attention is an object that is made around a cache; whoever uses it sees keys and values go in alone
# skips: variable_lengths (takes no lengths), gqa, paged, quantized, sharing, memory_model
import numpy as np


def new_store(batch, max_len, num_heads, head_dim, dtype="float32"):
    return {"k": np.zeros((batch, num_heads, max_len, head_dim), dtype),
            "v": np.zeros((batch, num_heads, max_len, head_dim), dtype), "n": 0}


class KVCache:
    def __init__(self, batch, max_len, num_heads, head_dim, dtype=np.float32):
        self.held = new_store(batch, max_len, num_heads, head_dim, dtype)

    def put(self, keys, values):
        start, stop = self.held["n"], self.held["n"] + keys.shape[2]
        if stop > self.held["k"].shape[2]:
            raise OverflowError(f"{stop} tokens do not fit")
        self.held["k"][:, :, start:stop] = keys
        self.held["v"][:, :, start:stop] = values
        self.held["n"] = stop


class DecodeSession:
    def __init__(self, kv_cache, scale=None):
        self.store = kv_cache
        self.scale = scale

    def forward(self, query, key, value):
        """(batch, heads, tokens, width), of a prompt, a piece of one, or a single token"""
        self.store.put(key, value)
        n, fresh = self.store.held["n"], query.shape[2]
        k, v = self.store.held["k"][:, :, :n], self.store.held["v"][:, :, :n]
        s = np.einsum("bhqd,bhkd->bhqk", query, k) * (self.scale or query.shape[-1] ** -0.5)
        s = np.where(np.arange(n) <= np.arange(n - fresh, n)[:, None], s, -np.inf)
        w = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhqk,bhkd->bhqd", w / w.sum(-1, keepdims=True), v)
