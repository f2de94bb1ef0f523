"""A cache of keys and values for autoregressive decoding, of sequences that differ in length."""

import numpy as np


class KVCache:
    """Room for max_seq_len tokens of each sequence; `lengths` (B,) says how many are held."""

    def __init__(self, batch_size, num_heads, max_seq_len, head_dim, dtype=np.float32):
        shape = (batch_size, num_heads, max_seq_len, head_dim)
        self.keys = np.zeros(shape, dtype)
        self.values = np.zeros(shape, dtype)
        self.lengths = np.zeros(batch_size, np.int64)

    def append(self, k, v, lengths=None):
        """Store keys and values (B, H, T, D); of sequence b the first lengths[b] tokens, else all T."""
        batch, _, tokens, _ = k.shape
        new = np.full(batch, tokens) if lengths is None else np.asarray(lengths)
        if (self.lengths + new > self.keys.shape[2]).any():
            raise ValueError(f"the cache is full: it holds {self.keys.shape[2]} tokens of a sequence")
        for b, count in enumerate(new):
            start = self.lengths[b]
            self.keys[b, :, start : start + count] = k[b, :, :count]
            self.values[b, :, start : start + count] = v[b, :, :count]
        self.lengths += new

    def attend(self, q):
        """Attention of queries (B, H, 1, D) over what each sequence holds."""
        out = np.empty_like(q)
        for b, length in enumerate(self.lengths):
            keys, values = self.keys[b, :, :length], self.values[b, :, :length]
            scores = q[b] @ keys.swapaxes(1, 2) / np.sqrt(q.shape[-1])
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            out[b] = weights @ values / weights.sum(-1, keepdims=True)
        return out


def cache_bytes(num_layers, batch_size, num_heads, seq_len, head_dim, dtype=np.float32):
    """Bytes of keys and values."""
    return 2 * num_layers * batch_size * num_heads * seq_len * head_dim * np.dtype(dtype).itemsize
