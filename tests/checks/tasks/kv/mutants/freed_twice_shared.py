# bug: freeing a sequence twice puts its blocks on the free list twice, so two others get the same ones
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, max_blocks, block_size, n_heads, d_head, batch_size):
        self.data = np.zeros((max_blocks, 2, n_heads, block_size, d_head), np.float32)
        self.block_size = block_size
        self.free_list = list(range(max_blocks))
        self.table = np.full((batch_size, max_blocks), -1)
        self.lens = np.zeros(batch_size, int)

    def append(self, b, k, v):
        """k, v: (n_heads, T, d_head)"""
        for t in range(k.shape[1]):
            column, slot = divmod(self.lens[b], self.block_size)
            if slot == 0:
                if not self.free_list:
                    raise RuntimeError("pool exhausted")
                self.table[b, column] = self.free_list.pop(0)
            self.data[self.table[b, column], :, :, slot] = k[:, t], v[:, t]
            self.lens[b] += 1

    def get(self, b):
        n = self.lens[b]
        used = self.data[self.table[b, : -(-n // self.block_size)]]
        flat = used.transpose(1, 2, 0, 3, 4).reshape(2, used.shape[2], -1, used.shape[4])
        return flat[0, :, :n], flat[1, :, :n]

    def free(self, b):
        self.free_list.extend(int(i) for i in self.table[b] if i >= 0)
        self.lens[b] = 0
