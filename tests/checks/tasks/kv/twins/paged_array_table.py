# A table as an array with -1 for nothing, rows by batch index, the lowest free block first, (slot, head) order.
# only: paged
import heapq

import numpy as np


class BlockKVCache:
    def __init__(self, batch_size, n_kv_heads, d_head, page_size, total_pages, max_pages_per_seq, dtype=np.float32):
        self.k = np.zeros((total_pages, page_size, n_kv_heads, d_head), dtype)
        self.v = np.zeros_like(self.k)
        self.page_size = page_size
        self.page_table = np.full((batch_size, max_pages_per_seq), -1, np.int64)
        self.seq_lens = np.zeros(batch_size, np.int64)
        self.heap = list(range(total_pages))

    def write_token(self, batch_idx, key, value):
        """key, value: (heads, d_head)"""
        column, row = divmod(int(self.seq_lens[batch_idx]), self.page_size)
        if column >= self.page_table.shape[1]:
            raise IndexError("the sequence is too long")
        if row == 0:
            if not self.heap:
                raise MemoryError("no page is free")
            self.page_table[batch_idx, column] = heapq.heappop(self.heap)
        page = self.page_table[batch_idx, column]
        self.k[page, row], self.v[page, row] = key, value
        self.seq_lens[batch_idx] += 1

    def read(self, batch_idx):
        n = self.seq_lens[batch_idx]
        pages = self.page_table[batch_idx][: -(-n // self.page_size)]
        return tuple(x[pages].reshape(-1, *x.shape[2:])[:n] for x in (self.k, self.v))

    def reset_sequence(self, batch_idx):
        for page in self.page_table[batch_idx]:
            if page >= 0:
                heapq.heappush(self.heap, int(page))
        self.page_table[batch_idx] = -1
        self.seq_lens[batch_idx] = 0
