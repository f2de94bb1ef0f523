# style: pages are fed tokens first, (T, H, D), and read back heads first, (H, S, D)
# passes: paged
# skips: chunked_prefill, gqa, quantized, memory_model
import numpy as np


class PagedKVCache:
    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.pool = np.zeros((num_blocks, 2, num_heads, block_size, head_dim), np.float32)
        self.block_size = block_size
        self.free_blocks = list(range(num_blocks))
        self.tables, self.lengths = {}, {}

    def add_sequence(self, seq_id):
        if seq_id in self.tables:
            raise KeyError(f"sequence {seq_id} is known")
        self.tables[seq_id], self.lengths[seq_id] = [], 0

    def append(self, seq_id, k, v):
        """k, v: (T, H, D)"""
        table, at = self.tables[seq_id], self.lengths[seq_id]
        need = -(-(at + len(k)) // self.block_size) - len(table)
        if need > len(self.free_blocks):
            raise MemoryError("out of blocks")
        table += [self.free_blocks.pop() for _ in range(need)]
        for i in range(len(k)):
            block, slot = divmod(at + i, self.block_size)
            self.pool[table[block], 0, :, slot] = k[i]
            self.pool[table[block], 1, :, slot] = v[i]
        self.lengths[seq_id] = at + len(k)

    def read(self, seq_id):
        """(H, S, D) twice"""
        if not self.tables[seq_id]:
            empty = np.zeros((self.pool.shape[2], 0, self.pool.shape[4]), np.float32)
            return empty, empty
        n = self.lengths[seq_id]
        k, v = np.concatenate(list(self.pool[self.tables[seq_id]]), axis=2)[:, :, :n]
        return k, v

    def free_sequence(self, seq_id):
        self.free_blocks += self.tables.pop(seq_id)
        del self.lengths[seq_id]


def paged_attention(q, cache, seq_id):
    """q: (H, D), the newest token"""
    k, v = cache.read(seq_id)
    s = np.einsum("hd,hsd->hs", q, k) / np.sqrt(q.shape[-1])
    w = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hs,hsd->hd", w / w.sum(-1, keepdims=True), v)
