# bug: a sequence that goes gives back its full blocks, and the last one that is half full is lost
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.k_pool = np.zeros((num_blocks, num_heads, block_size, head_dim), np.float32)
        self.v_pool = np.zeros_like(self.k_pool)
        self.block_size = block_size
        self.free_list = list(range(num_blocks))
        self.block_tables, self.seq_lens = {}, {}

    def add_sequence(self, seq_id):
        self.block_tables[seq_id], self.seq_lens[seq_id] = [], 0

    def append(self, seq_id, k, v):
        """k, v: (num_heads, tokens, head_dim)"""
        table = self.block_tables[seq_id]
        for t in range(k.shape[1]):
            block, slot = divmod(self.seq_lens[seq_id], self.block_size)
            if block == len(table):
                if not self.free_list:
                    raise MemoryError("no free blocks")
                table.append(self.free_list.pop())
            self.k_pool[table[block], :, slot] = k[:, t]
            self.v_pool[table[block], :, slot] = v[:, t]
            self.seq_lens[seq_id] += 1

    def get_kv(self, seq_id):
        table, n = self.block_tables[seq_id], self.seq_lens[seq_id]
        return tuple(np.concatenate([pool[i] for i in table], 1)[:, :n] for pool in (self.k_pool, self.v_pool))

    def free_sequence(self, seq_id):
        full = self.seq_lens.pop(seq_id) // self.block_size
        self.free_list += self.block_tables.pop(seq_id)[:full]
