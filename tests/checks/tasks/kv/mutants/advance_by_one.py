# bug: the position moves by one, however many tokens were written
# caught by: incremental_equals_full
import numpy as np


class StaticCache:
    def __init__(self, num_layers, batch_size, num_heads, head_dim, max_seq_len):
        self.kv = np.zeros((num_layers, 2, batch_size, num_heads, max_seq_len, head_dim), np.float32)
        self.position, self.room = 0, max_seq_len

    def update(self, layer, k, v):
        """k, v (B, H, T, D) at the position, which increment_position(T) moves after the last layer."""
        stop = self.position + k.shape[2]
        if stop > self.room:
            raise RuntimeError("cache overflow")
        self.kv[layer, 0, :, :, self.position : stop] = k
        self.kv[layer, 1, :, :, self.position : stop] = v

    def increment_position(self, num_tokens=1):
        self.position += 1 if num_tokens else 0


def attention_with_cache(q, cache, layer):
    first, stop = cache.position, cache.position + q.shape[2]
    k, v = cache.kv[layer, 0, :, :, :stop], cache.kv[layer, 1, :, :, :stop]
    s = np.einsum("bhtd,bhsd->bhts", q, k) / np.sqrt(k.shape[-1])
    s = np.where(np.arange(stop) <= np.arange(first, stop)[:, None], s, -np.inf)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("bhts,bhsd->bhtd", p / p.sum(-1, keepdims=True), v)
