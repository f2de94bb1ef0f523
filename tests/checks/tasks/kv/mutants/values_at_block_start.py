# bug: a prompt that begins in the middle of a block has its values written at the block's start
# caught by: paged
import numpy as np
class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.k = np.zeros((num_blocks, num_heads, block_size, head_dim)); self.v = np.zeros_like(self.k)
        self.bs = block_size; self.freelist = list(range(num_blocks)); self.t = {}; self.n = {}
    def add_sequence(self, seq_id): self.t[seq_id] = []; self.n[seq_id] = 0
    def append_tokens(self, seq_id, k, v):
        T = k.shape[1]; pos = 0
        while pos < T:
            off = self.n[seq_id] % self.bs
            if off == 0:
                if not self.freelist: raise MemoryError("x")
                self.t[seq_id].append(self.freelist.pop())
            m = min(self.bs - off, T - pos)
            b = self.t[seq_id][-1]
            self.k[b, :, off:off+m] = k[:, pos:pos+m]; self.v[b, :, :m] = v[:, pos:pos+m]
            pos += m; self.n[seq_id] += m
    def gather(self, seq_id):
        return tuple(np.concatenate([x[b] for b in self.t[seq_id]], 1)[:, :self.n[seq_id]] for x in (self.k, self.v))
    def free(self, seq_id):
        self.freelist += self.t.pop(seq_id); self.n.pop(seq_id)
