# bug: blocks are taken one by one for a prompt, and those that were got before it was refused are lost
# caught by: paged
import numpy as np


class BlockAllocator:
    def __init__(self, n):
        self.free_ids = list(range(n))

    def alloc(self):
        if not self.free_ids:
            raise MemoryError("out of blocks")
        return self.free_ids.pop()


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.allocator = BlockAllocator(num_blocks)
        self.k = np.zeros((num_blocks, block_size, num_heads, head_dim), np.float32)
        self.v = np.zeros_like(self.k)
        self.block_size, self.tables, self.lens = block_size, {}, {}

    def append(self, seq_id, k, v):
        """k, v: (tokens, heads, head_dim)"""
        n = self.lens.get(seq_id, 0)
        table = self.tables.setdefault(seq_id, [])
        need = -(-(n + len(k)) // self.block_size) - len(table)
        new = [self.allocator.alloc() for _ in range(need)]
        table.extend(new)
        for i in range(len(k)):
            block, slot = divmod(n + i, self.block_size)
            self.k[table[block], slot], self.v[table[block], slot] = k[i], v[i]
        self.lens[seq_id] = n + len(k)

    def gather(self, seq_id):
        n, table = self.lens[seq_id], self.tables[seq_id]
        return tuple(x[table].reshape(-1, *x.shape[2:])[:n] for x in (self.k, self.v))

    def free(self, seq_id):
        self.allocator.free_ids += self.tables.pop(seq_id, [])
        self.lens.pop(seq_id, None)
