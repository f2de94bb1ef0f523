# style: layers write and attend one after another; the position moves once, after the last of them
# skips: variable_lengths, gqa, paged, quantized, memory_model
import numpy as np


class ModelKVCache:
    def __init__(self, n_layers, batch, n_heads, max_len, d_head):
        self.store = [
            {name: np.zeros((batch, max_len, n_heads, d_head), np.float32) for name in "kv"}
            for _ in range(n_layers)
        ]
        self.cursor = 0
        self.max_len = max_len

    def put(self, layer, k, v):
        """k, v: (B, T, H, D)"""
        t = k.shape[1]
        if self.cursor + t > self.max_len:
            raise IndexError("the cache is full")
        self.store[layer]["k"][:, self.cursor : self.cursor + t] = k
        self.store[layer]["v"][:, self.cursor : self.cursor + t] = v

    def commit(self, t=1):
        """After every layer has put its t tokens."""
        self.cursor += t


def attend(q, cache, layer):
    """q: (B, T, H, D), of the tokens that are put and not committed."""
    t = q.shape[1]
    stop = cache.cursor + t
    k, v = (cache.store[layer][name][:, :stop] for name in "kv")
    logits = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
    logits[..., np.arange(stop)[None, :] > cache.cursor + np.arange(t)[:, None]] = -np.inf
    logits -= logits.max(-1, keepdims=True)
    p = np.exp(logits)
    return np.einsum("bhts,bshd->bthd", p / p.sum(-1, keepdims=True), v)
