# style: attention over arrays that the caller reads from the cache, told how long each row of the batch is
# skips: gqa, paged, quantized, sharing, memory_model
import numpy as np


class BatchCache:
    def __init__(self, batch_size, max_len, num_heads, head_dim, dtype=np.float32):
        shape = (batch_size, max_len, num_heads, head_dim)
        self._k, self._v = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self._lens = np.zeros(batch_size, np.int64)

    def write(self, keys, values, seq_lens=None):
        """(batch, tokens, heads, width); of row i the first seq_lens[i] are tokens."""
        fresh = np.full(len(keys), keys.shape[1]) if seq_lens is None else np.asarray(seq_lens)
        if np.max(self._lens + fresh) > self._k.shape[1]:
            raise IndexError(f"no room for {fresh.max()} more tokens")
        for row, (start, count) in enumerate(zip(self._lens, fresh)):
            self._k[row, start:start + count] = keys[row, :count]
            self._v[row, start:start + count] = values[row, :count]
        self._lens = self._lens + fresh

    def read(self):
        longest = self._lens.max()
        return self._k[:, :longest], self._v[:, :longest], self._lens.copy()


def cached_attention(query, keys, values, seq_lens):
    """query (batch, 1, heads, width) is the newest token of each row; keys (batch, longest, heads, width)."""
    scores = np.einsum("bqhd,bkhd->bhqk", query, keys) / np.sqrt(query.shape[-1])
    real = np.arange(keys.shape[1]) < np.reshape(seq_lens, (-1, 1))
    scores = np.where(real[:, None, None], scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("bhqk,bkhd->bqhd", weights / weights.sum(axis=-1, keepdims=True), values)
