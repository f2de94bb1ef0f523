# style: prompts stored sequence by sequence, tokens of all together, attention a call of its own
# only: variable_lengths, incremental_equals_full, cache_size_minimality
# passes: variable_lengths
"""KV cache for a batch of sequences of different lengths."""

import numpy as np


class BatchKVCache:
    def __init__(self, num_layers, batch_size, max_seq_len, num_kv_heads, head_dim, dtype=np.float32):
        self.k = np.zeros((num_layers, batch_size, max_seq_len, num_kv_heads, head_dim), dtype=dtype)
        self.v = np.zeros_like(self.k)
        self.lengths = np.zeros((num_layers, batch_size), dtype=np.int64)
        self.max_seq_len = max_seq_len

    def append_prompt(self, layer, seq, keys, values):
        """keys, values (tokens, heads, dim) of one sequence."""
        start = int(self.lengths[layer, seq])
        stop = start + len(keys)
        if stop > self.max_seq_len:
            raise IndexError("cache is full")
        self.k[layer, seq, start:stop] = keys
        self.v[layer, seq, start:stop] = values
        self.lengths[layer, seq] = stop

    def append_token(self, layer, keys, values):
        """One token for every sequence: keys, values (batch, heads, dim)."""
        at = self.lengths[layer]
        if int(at.max()) >= self.max_seq_len:
            raise IndexError("cache is full")
        rows = np.arange(len(at))
        self.k[layer, rows, at] = keys
        self.v[layer, rows, at] = values
        self.lengths[layer] += 1

    def read(self, layer, seq):
        n = int(self.lengths[layer, seq])
        return self.k[layer, seq, :n], self.v[layer, seq, :n]


def attend(cache, layer, queries):
    """queries (batch, heads, dim) of the newest token -> (batch, heads, dim)."""
    out = np.empty_like(queries)
    for b in range(queries.shape[0]):
        k, v = cache.read(layer, b)
        group = queries.shape[1] // k.shape[1]
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
        s = np.einsum("hd,thd->ht", queries[b], k) / np.sqrt(queries.shape[-1])
        p = np.exp(s - s.max(axis=1, keepdims=True))
        out[b] = np.einsum("ht,thd->hd", p / p.sum(axis=1, keepdims=True), v)
    return out
