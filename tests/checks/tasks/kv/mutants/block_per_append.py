# bug: every append takes a new block, however much room the last one has
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.blocks = np.zeros((num_blocks, 2, num_heads, block_size, head_dim), np.float32)
        self.block_size = block_size
        self.free_ids = set(range(num_blocks))
        self.rows = {}

    def add_sequence(self, seq_id):
        self.rows[seq_id] = []

    def append(self, seq_id, k, v):
        """k, v: (num_heads, tokens, head_dim)"""
        for start in range(0, k.shape[1], self.block_size):
            part = slice(start, start + self.block_size)
            if not self.free_ids:
                raise MemoryError("no block is free")
            block = self.free_ids.pop()
            count = k[:, part].shape[1]
            self.blocks[block, 0, :, :count], self.blocks[block, 1, :, :count] = k[:, part], v[:, part]
            self.rows[seq_id].append((block, count))

    def gather(self, seq_id):
        parts = [self.blocks[block, :, :, :count] for block, count in self.rows[seq_id]]
        k, v = np.concatenate(parts, axis=2)
        return k, v

    def remove_sequence(self, seq_id):
        self.free_ids |= {block for block, _ in self.rows.pop(seq_id)}
