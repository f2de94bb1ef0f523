# bug: attention goes over whole blocks, so it sees what earlier owners left behind the newest token
# caught by: paged
import numpy as np


class PagedAttentionCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.k = np.full((num_blocks, num_heads, block_size, head_dim), -1e4, np.float32)
        self.v = np.zeros_like(self.k)
        self.size, self.free_list = block_size, list(range(num_blocks))
        self.tables, self.lens = {}, {}

    def allocate_sequence(self, seq_id):
        self.tables[seq_id], self.lens[seq_id] = [], 0

    def append(self, seq_id, k, v):
        """k, v: (heads, 1, head_dim)"""
        slot = self.lens[seq_id] % self.size
        if slot == 0:
            if not self.free_list:
                raise MemoryError("no blocks left")
            self.tables[seq_id].append(self.free_list.pop())
        self.k[self.tables[seq_id][-1], :, slot : slot + 1] = k
        self.v[self.tables[seq_id][-1], :, slot : slot + 1] = v
        self.lens[seq_id] += 1

    def get(self, seq_id):
        table, n = self.tables[seq_id], self.lens[seq_id]
        return tuple(np.concatenate([x[i] for i in table], 1)[:, :n] for x in (self.k, self.v))

    def attend(self, q, seq_id):
        table = self.tables[seq_id]
        k, v = (np.concatenate([x[i] for i in table], 1) for x in (self.k, self.v))
        seen = np.abs(k).max((0, 2)) < 1e3
        s = np.where(seen, q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1]), -np.inf)
        w = np.exp(s - s.max(-1, keepdims=True))
        return w / w.sum(-1, keepdims=True) @ v

    def free_sequence(self, seq_id):
        self.free_list += self.tables.pop(seq_id)
        del self.lens[seq_id]
