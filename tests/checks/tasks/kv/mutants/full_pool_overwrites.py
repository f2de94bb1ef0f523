# bug: a pool that is full hands out its first block again, whoever has it
# caught by: paged
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.kv = np.zeros((num_blocks, block_size, 2, num_heads, head_dim), np.float32)
        self.block_size, self.free_list = block_size, list(range(num_blocks))
        self.sequences = {}

    def append(self, seq_id, k, v):
        """One token: (num_heads, head_dim)."""
        blocks, n = self.sequences.get(seq_id, ([], 0))
        if n == len(blocks) * self.block_size:
            blocks = [*blocks, self.free_list.pop() if self.free_list else 0]
        self.kv[blocks[-1], n % self.block_size] = k, v
        self.sequences[seq_id] = blocks, n + 1

    def get(self, seq_id):
        blocks, n = self.sequences[seq_id]
        rows = self.kv[blocks].reshape(-1, *self.kv.shape[2:])[:n]
        return rows[:, 0], rows[:, 1]

    def free(self, seq_id):
        self.free_list += self.sequences.pop(seq_id)[0]
