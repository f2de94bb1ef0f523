# style: an allocator beside a pool that is told its blocks; it makes more blocks when none is free
# only: paged, incremental_equals_full
import numpy as np


class BlockAllocator:
    """Hands out the numbers of free blocks."""

    def __init__(self, num_blocks, block_size=16):
        self.num_blocks, self.block_size = num_blocks, block_size
        self.free_blocks = list(range(num_blocks))

    def allocate(self):
        if not self.free_blocks:
            self.free_blocks = list(range(self.num_blocks, 2 * self.num_blocks))
            self.num_blocks *= 2
        return self.free_blocks.pop(0)

    def free(self, block_id):
        if block_id in self.free_blocks:
            raise ValueError(f"block {block_id} is free already")
        self.free_blocks.append(block_id)


class PagedPool:
    """Keys and values in blocks, (num_blocks, block_size, H, D); which block is whose is the caller's."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.keys = np.zeros((num_blocks, block_size, num_heads, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)

    def write(self, block_id, offset, k, v):
        """One token, (H, D), at a place of a block."""
        self.keys[block_id, offset] = k
        self.values[block_id, offset] = v

    def read(self, block_table, seq_len):
        """(S, H, D) keys and values of a sequence, by its list of blocks."""
        table = np.asarray(block_table)
        keys, values = (x[table].reshape(-1, *x.shape[2:])[:seq_len] for x in (self.keys, self.values))
        return keys, values


def paged_attention(q, pool, block_table, seq_len):
    """One query (H, D) over the tokens of a sequence."""
    k, v = pool.read(block_table, seq_len)
    scores = np.einsum("hd,shd->hs", q, k) / np.sqrt(q.shape[-1])
    p = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.einsum("hs,shd->hd", p / p.sum(axis=-1, keepdims=True), v)
