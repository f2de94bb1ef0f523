# Blocks are made when they are needed and thrown away.
# only: paged, variable_lengths, cache_size_minimality, growth, capacity
import numpy as np


class PagedCache:
    def __init__(self, block_size=4):
        self.block_size, self.rows = block_size, {}

    def add_sequence(self, seq_id):
        if seq_id in self.rows:
            raise KeyError(f"{seq_id} is there already")
        self.rows[seq_id] = []

    def append(self, seq_id, key, value):
        """One token of a sequence, (1, heads, 1, head_dim)."""
        blocks = self.rows[seq_id]
        if not blocks or len(blocks[-1]) == self.block_size:
            blocks.append([])
        blocks[-1].append((key[0, :, 0].copy(), value[0, :, 0].copy()))

    def get(self, seq_id):
        tokens = [t for block in self.rows[seq_id] for t in block]
        return np.stack([k for k, _ in tokens], 1)[None], np.stack([v for _, v in tokens], 1)[None]

    def remove_sequence(self, seq_id):
        del self.rows[seq_id]
