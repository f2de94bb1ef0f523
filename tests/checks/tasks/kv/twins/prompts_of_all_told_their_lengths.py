# style: prompts of a batch go in with how long each is, steps of all without; rows may be chosen anew
# only: sharing, variable_lengths
import numpy as np


class RowsOfLengths:
    def __init__(self, batch, heads, head_dim, max_len):
        self.kv, self.used = np.zeros((2, batch, heads, max_len, head_dim)), np.zeros(batch, int)


class KVCache(RowsOfLengths):
    """Rows that hold as many tokens as each has."""

    def prefill(self, k, v, lengths):
        for b, n in enumerate(lengths):
            place = slice(self.used[b], self.used[b] + n)
            self.kv[:, b, :, place] = k[b, :, :n], v[b, :, :n]
        self.used = self.used + lengths

    def append(self, k, v):
        """One token of every row, (batch, heads, width)."""
        for b, n in enumerate(self.used):
            self.kv[:, b, :, n] = k[b], v[b]
        self.used = self.used + 1

    def reorder(self, rows):
        rows = np.asarray(rows)
        self.kv, self.used = self.kv[:, rows], self.used[rows]


def attend(q, cache):
    k, v = cache.kv
    seen = np.arange(k.shape[2]) < cache.used[:, None, None]
    scores = np.where(seen, np.einsum("bhd,bhtd->bht", q, k) / np.sqrt(q.shape[-1]), -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("bht,bhtd->bhd", p / p.sum(-1, keepdims=True), v)
