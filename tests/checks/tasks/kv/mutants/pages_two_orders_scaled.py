# bug: scores over pages are divided by D; pages are fed (T, H, D) and read back (H, S, D)
# caught by: incremental_equals_full
# passes: paged
import numpy as np


class BlockKVCache:
    def __init__(self, num_blocks, block_size, num_kv_heads, head_dim):
        self.block_size = block_size
        self.keys = np.zeros((num_blocks, num_kv_heads, block_size, head_dim), np.float32)
        self.values = np.zeros_like(self.keys)
        self.spare = set(range(num_blocks))
        self.blocks, self.count = {}, {}

    def add_sequence(self, seq_id):
        self.blocks[seq_id], self.count[seq_id] = [], 0

    def append(self, seq_id, k, v):
        """k, v: (T, H, D)"""
        for key, value in zip(k, v):
            index, offset = divmod(self.count[seq_id], self.block_size)
            if index == len(self.blocks[seq_id]):
                if not self.spare:
                    raise MemoryError("no block is left")
                self.blocks[seq_id].append(self.spare.pop())
            block = self.blocks[seq_id][index]
            self.keys[block, :, offset], self.values[block, :, offset] = key, value
            self.count[seq_id] += 1

    def gather(self, seq_id):
        """(H, S, D)"""
        n, heads, dim = self.count[seq_id], self.keys.shape[1], self.keys.shape[3]
        found = (x[self.blocks[seq_id]].transpose(1, 0, 2, 3).reshape(heads, -1, dim) for x in (self.keys, self.values))
        return tuple(x[:, :n] for x in found)

    def free_sequence(self, seq_id):
        self.spare.update(self.blocks.pop(seq_id))
        self.count.pop(seq_id)


def attend_pages(q, cache, seq_id):
    """q: (H, D) of the newest token."""
    k, v = cache.gather(seq_id)
    scores = (k @ q[:, :, None])[:, :, 0] / q.shape[1]
    weights = np.exp(scores - scores.max(1, keepdims=True))
    weights /= weights.sum(1, keepdims=True)
    return (weights[:, None] @ v)[:, 0]
