# Numbers of sequences are given out; nothing is gathered: attention goes over the blocks, one at a time.
# only: paged
from collections import deque
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Sequence:
    blocks: list = field(default_factory=list)
    length: int = 0


class BlockAllocator:
    def __init__(self, n):
        self.free = deque(range(n))

    def take(self):
        if not self.free:
            raise MemoryError("no block left")
        return self.free.popleft()

    def give(self, block):
        self.free.append(block)


class PagedKVCache:
    def __init__(self, n_blocks, block_size, heads, head_dim):
        self.keys = np.empty((n_blocks, block_size, heads, head_dim), np.float64)
        self.values = np.empty_like(self.keys)
        self.allocator, self.sequences, self.count = BlockAllocator(n_blocks), {}, 0

    def new_sequence(self):
        self.count += 1
        self.sequences[f"s{self.count}"] = Sequence()
        return f"s{self.count}"

    def append(self, sequence_id, keys, values):
        """keys, values: (tokens, heads, head_dim)"""
        seq, size = self.sequences[sequence_id], self.keys.shape[1]
        while len(seq.blocks) * size < seq.length + len(keys):
            seq.blocks.append(self.allocator.take())
        for k, v in zip(keys, values):
            at = seq.blocks[seq.length // size], seq.length % size
            self.keys[at], self.values[at] = k, v
            seq.length += 1

    def attend(self, query, sequence_id):
        """query: (heads, head_dim)"""
        seq, size = self.sequences[sequence_id], self.keys.shape[1]
        top, weight, out = np.full(query.shape[0], -np.inf), 0.0, 0.0
        for i, block in enumerate(seq.blocks):
            used = min(size, seq.length - i * size)
            if used <= 0:
                break
            s = np.einsum("hd,nhd->hn", query, self.keys[block, :used]) * query.shape[-1] ** -0.5
            new = np.maximum(top, s.max(1))
            p, shrink = np.exp(s - new[:, None]), np.exp(top - new)
            weight = weight * shrink + p.sum(1)
            out = out * shrink[:, None] + np.einsum("hn,nhd->hd", p, self.values[block, :used])
            top = new
        return out / weight[:, None]

    def release(self, sequence_id):
        for block in self.sequences.pop(sequence_id).blocks:
            self.allocator.give(block)
