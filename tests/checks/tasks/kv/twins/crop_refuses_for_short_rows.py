# style: a crop to a length that some rows do not have is refused
# only: sharing, variable_lengths
# passes: sharing
import numpy as np


class BatchedCache:
    """Keys and values (batch, tokens, heads, width); of row i the first fill[i] are real."""

    def __init__(self, batch_size, num_heads, head_dim, max_len=64):
        self.keys = np.zeros((batch_size, max_len, num_heads, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.fill = np.zeros(batch_size, np.int64)

    def update(self, keys, values, lengths=None):
        tokens = np.full(len(keys), keys.shape[1]) if lengths is None else np.asarray(lengths)
        if np.any(self.fill + tokens > self.keys.shape[1]):
            raise RuntimeError("a row has no room left")
        for row, (start, count) in enumerate(zip(self.fill, tokens)):
            self.keys[row, start : start + count] = keys[row, :count]
            self.values[row, start : start + count] = values[row, :count]
        self.fill = self.fill + tokens

    def truncate(self, new_length):
        """The first tokens of each row; all have to have as many."""
        if np.any(self.fill < new_length):
            raise ValueError(f"a row holds {self.fill.min()} tokens, and {new_length} are to stay")
        self.fill = np.full_like(self.fill, new_length)

    def attend(self, queries):
        """queries (batch, 1, heads, width): those of the newest tokens."""
        held = self.fill.max()
        s = np.einsum("bqhd,bkhd->bhqk", queries, self.keys[:, :held]) / np.sqrt(queries.shape[-1])
        s = np.where(np.arange(held) < self.fill[:, None, None, None], s, -np.inf)
        p = np.exp(s - s.max(-1, keepdims=True))
        return np.einsum("bhqk,bkhd->bqhd", p / p.sum(-1, keepdims=True), self.values[:, :held])
