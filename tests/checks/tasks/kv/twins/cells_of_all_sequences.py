# style: one array of cells for all sequences, told how many there are in all; it refuses when none is free
# only: incremental_equals_full, capacity, cache_size_minimality
import numpy as np


class KVCache:
    def __init__(self, num_cells, num_heads, head_dim):
        self.kv = np.zeros((2, num_cells, num_heads, head_dim), np.float32)
        self.free, self.cells = list(range(num_cells)), {}

    def add_sequence(self, seq_id):
        if seq_id in self.cells:
            raise ValueError(f"sequence {seq_id} is there")
        self.cells[seq_id] = []

    def append(self, seq_id, k, v):
        """One token, (heads, width) each."""
        if not self.free:
            raise MemoryError("no cell is free")
        cell = self.free.pop()
        self.kv[:, cell] = k, v
        self.cells[seq_id].append(cell)

    def get(self, seq_id):
        return tuple(self.kv[:, self.cells[seq_id]])

    def remove_sequence(self, seq_id):
        self.free += self.cells.pop(seq_id)


def cached_attention(q, cache, seq_id):
    k, v = cache.get(seq_id)
    scores = np.einsum("hd,thd->ht", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("ht,thd->hd", p / p.sum(-1, keepdims=True), v)
