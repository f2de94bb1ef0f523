# Blocks are reserved for a length first and written by position; reading is told the length.
# only: paged
import numpy as np
class PagedKVCache:
    def __init__(self, total_blocks, block_size, n_heads, head_dim):
        self.block_size = block_size
        self.k_cache = np.zeros((total_blocks, block_size, n_heads, head_dim), dtype=np.float32)
        self.v_cache = np.zeros((total_blocks, block_size, n_heads, head_dim), dtype=np.float32)
        self.free_blocks = list(range(total_blocks))
        self.block_table = {}
    def allocate(self, seq_id, num_tokens):
        need = (num_tokens + self.block_size - 1) // self.block_size
        have = self.block_table.get(seq_id, [])
        if need - len(have) > len(self.free_blocks):
            raise MemoryError("OOM")
        while len(have) < need:
            have.append(self.free_blocks.pop())
        self.block_table[seq_id] = have
    def write(self, seq_id, position, k, v):
        b = self.block_table[seq_id][position // self.block_size]
        self.k_cache[b, position % self.block_size] = k
        self.v_cache[b, position % self.block_size] = v
    def read(self, seq_id, length):
        ks = [self.k_cache[self.block_table[seq_id][p // self.block_size], p % self.block_size] for p in range(length)]
        vs = [self.v_cache[self.block_table[seq_id][p // self.block_size], p % self.block_size] for p in range(length)]
        return np.stack(ks), np.stack(vs)
    def free(self, seq_id):
        self.free_blocks.extend(self.block_table.pop(seq_id))
