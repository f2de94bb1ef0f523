# right: a pool whose calls are for the sequences that they are told of, which it numbers itself
# passes: paged, incremental_equals_full, variable_lengths
import numpy as np


class SlotPool:
    """Keys and values in blocks, (blocks, block_size, H, D); rows of a batch are told by their sequences."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.block_size = block_size
        self.k = np.zeros((num_blocks, block_size, num_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.unused = list(range(num_blocks))
        self.tables = {}
        self.lengths = {}
        self.last = -1

    def add_sequence(self):
        """A new sequence; its number."""
        self.last += 1
        self.tables[self.last], self.lengths[self.last] = [], 0
        return self.last

    def free(self, seq_id):
        self.unused += self.tables.pop(seq_id)
        del self.lengths[seq_id]

    def _slot(self, seq_id):
        n = self.lengths[seq_id]
        if n % self.block_size == 0:
            if not self.unused:
                raise MemoryError("no block is free")
            self.tables[seq_id].append(self.unused.pop())
        self.lengths[seq_id] = n + 1
        return self.tables[seq_id][-1], n % self.block_size

    def append(self, seq_ids, k, v):
        """One token of each of these sequences, (len(seq_ids), H, D)."""
        blocks, places = np.array([self._slot(seq_id) for seq_id in seq_ids]).T
        self.k[blocks, places], self.v[blocks, places] = k, v

    def read(self, seq_id):
        """(N, H, D) keys and values."""
        table, n = self.tables[seq_id], self.lengths[seq_id]
        return tuple(x[table].reshape(-1, *x.shape[2:])[:n] for x in (self.k, self.v))


def decode(pool, seq_ids, q, k, v):
    """(B, H, D) of one token of each sequence."""
    pool.append(seq_ids, k, v)
    out = np.empty_like(q)
    for row, seq_id in enumerate(seq_ids):
        keys, values = pool.read(seq_id)
        scores = np.einsum("hd,nhd->hn", q[row], keys) / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        out[row] = np.einsum("hn,nhd->hd", weights / weights.sum(-1, keepdims=True), values)
    return out
