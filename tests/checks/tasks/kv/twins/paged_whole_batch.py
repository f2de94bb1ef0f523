# Every call feeds the whole batch; a sequence is read by its place in it.
# only: paged
import numpy as np
class PagedKVCache:
    def __init__(self, batch_size, num_heads, head_dim, block_size=16, max_blocks=64):
        self.batch_size, self.num_heads, self.head_dim, self.block_size = batch_size, num_heads, head_dim, block_size
        self.k_blocks = np.zeros((max_blocks, num_heads, block_size, head_dim), np.float32)
        self.v_blocks = np.zeros_like(self.k_blocks)
        self.tables = [[] for _ in range(batch_size)]
        self.lens = [0] * batch_size
        self.free = list(range(max_blocks))
    def update(self, k, v):
        for b in range(self.batch_size):
            for t in range(k.shape[2]):
                if self.lens[b] % self.block_size == 0:
                    self.tables[b].append(self.free.pop(0))
                blk = self.tables[b][-1]
                self.k_blocks[blk, :, self.lens[b] % self.block_size] = k[b, :, t]
                self.v_blocks[blk, :, self.lens[b] % self.block_size] = v[b, :, t]
                self.lens[b] += 1
    def get_kv(self, batch_idx):
        k = np.concatenate([self.k_blocks[i] for i in self.tables[batch_idx]], 1)[:, :self.lens[batch_idx]]
        v = np.concatenate([self.v_blocks[i] for i in self.tables[batch_idx]], 1)[:, :self.lens[batch_idx]]
        return k, v
