# bug: a sequence is refused once its first block is full, although others are free
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.pool = np.zeros((2, num_blocks, num_heads, block_size, head_dim), np.float32)
        self.size, self.spare, self.table, self.used = block_size, list(range(num_blocks)), {}, {}

    def append(self, seq_id, k, v):
        if seq_id not in self.table:
            self.table[seq_id], self.used[seq_id] = self.spare.pop(), 0
        at = self.used[seq_id]
        if at == self.size:
            raise MemoryError(f"the block of {seq_id} is full")
        self.pool[0, self.table[seq_id], :, at], self.pool[1, self.table[seq_id], :, at] = k, v
        self.used[seq_id] += 1

    def get(self, seq_id):
        rows = self.pool[:, self.table[seq_id], :, : self.used[seq_id]]
        return rows[0], rows[1]

    def free(self, seq_id):
        self.spare.append(self.table.pop(seq_id))
        del self.used[seq_id]
