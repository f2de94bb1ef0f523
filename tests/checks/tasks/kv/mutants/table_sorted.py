# bug: blocks are gathered in the order of their numbers, not of the table
# caught by: paged
import numpy as np
class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.k = np.zeros((num_blocks, num_heads, block_size, head_dim)); self.v = np.zeros_like(self.k)
        self.bs = block_size; self.freelist = list(range(num_blocks)); self.t = {}; self.n = {}
    def append(self, seq_id, k, v):
        n = self.n.get(seq_id, 0)
        if n % self.bs == 0:
            if not self.freelist: raise MemoryError("x")
            self.t.setdefault(seq_id, []).append(self.freelist.pop(0))
        b = self.t[seq_id][-1]
        self.k[b, :, n % self.bs] = k; self.v[b, :, n % self.bs] = v; self.n[seq_id] = n + 1
    def gather(self, seq_id):
        return tuple(np.concatenate([x[b] for b in sorted(self.t[seq_id])], 1)[:, :self.n[seq_id]] for x in (self.k, self.v))
    def free(self, seq_id):
        self.freelist += self.t.pop(seq_id); self.n.pop(seq_id)
