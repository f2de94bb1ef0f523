# Block tables and the free list are plain lists; sequences come by number when they are first written.
# only: paged, variable_lengths, cache_size_minimality, growth, capacity
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.pool = [np.zeros((2, num_heads, block_size, head_dim), np.float32) for _ in range(num_blocks)]
        self.block_size, self.free_blocks = block_size, list(range(num_blocks))
        self.tables, self.lengths = {}, {}

    def append(self, seq_id, k, v):
        """k, v: (heads, tokens, head_dim)"""
        table, at = self.tables.setdefault(seq_id, []), self.lengths.get(seq_id, 0)
        missing = -(-(at + k.shape[1]) // self.block_size) - len(table)
        if missing > len(self.free_blocks):
            raise RuntimeError(f"{missing} blocks are wanted and {len(self.free_blocks)} free")
        table += [self.free_blocks.pop() for _ in range(missing)]
        for t in range(k.shape[1]):
            block, slot = divmod(at + t, self.block_size)
            self.pool[table[block]][:, :, slot] = k[:, t], v[:, t]
        self.lengths[seq_id] = at + k.shape[1]

    def gather(self, seq_id):
        joined = np.concatenate([self.pool[i] for i in self.tables[seq_id]], axis=2)
        return joined[0, :, : self.lengths[seq_id]], joined[1, :, : self.lengths[seq_id]]

    def free(self, seq_id):
        self.free_blocks += self.tables.pop(seq_id, [])
        self.lengths.pop(seq_id, None)
