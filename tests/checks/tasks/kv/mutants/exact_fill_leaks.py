# bug: a sequence that ends at the end of a block gives one block too few back
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.store = {}
        self.num_heads, self.head_dim, self.block_size = num_heads, head_dim, block_size
        self.available, self.reserved = num_blocks, {}

    def append(self, seq_id, k, v):
        """k, v: (num_heads, T, head_dim)"""
        old = self.store.get(seq_id, (np.zeros((self.num_heads, 0, self.head_dim), np.float32),) * 2)
        n = old[0].shape[1] + k.shape[1]
        wanted = -(-n // self.block_size) - self.reserved.get(seq_id, 0)
        if wanted > self.available:
            raise MemoryError("no blocks")
        self.available -= max(wanted, 0)
        self.reserved[seq_id] = self.reserved.get(seq_id, 0) + max(wanted, 0)
        self.store[seq_id] = np.concatenate([old[0], k], 1), np.concatenate([old[1], v], 1)

    def read(self, seq_id):
        return self.store[seq_id]

    def finish(self, seq_id):
        n = self.store.pop(seq_id)[0].shape[1]
        blocks = self.reserved.pop(seq_id)
        self.available += blocks - (n % self.block_size == 0)
