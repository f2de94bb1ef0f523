# bug: numbers of places are computed in 16 bits, which wrap round in a large pool
# caught by: paged
# only: paged, isolation
import numpy as np


class PagedCache:
    """Rows of all sequences in one array; a sequence has blocks of them, by number."""

    def __init__(self, blocks, block_size, heads, head_dim):
        self.size, self.rows = block_size, np.zeros((2, blocks * block_size, heads, head_dim), np.float32)
        self.spare, self.of, self.length = list(range(blocks)), {}, {}

    def open(self, seq):
        self.of[seq], self.length[seq] = np.zeros(0, np.uint16), 0

    def close(self, seq):
        self.spare.extend(int(block) for block in self.of.pop(seq))
        del self.length[seq]

    def places(self, seq, first, last):
        at = np.arange(first, last)
        return self.of[seq][at // self.size] * np.uint16(self.size) + (at % self.size).astype(np.uint16)

    def append(self, seq, k, v):
        """k, v: (T, heads, head_dim)."""
        first = self.length[seq]
        last = first + len(k)
        more = -(-last // self.size) - len(self.of[seq])
        if more > len(self.spare):
            raise MemoryError("no block is free")
        taken, self.spare = self.spare[:more], self.spare[more:]
        self.of[seq] = np.append(self.of[seq], np.array(taken, int)).astype(np.uint16)
        self.rows[:, self.places(seq, first, last)] = np.stack([k, v])
        self.length[seq] = last

    def read(self, seq):
        """Keys and values, (T, heads, head_dim) each."""
        k, v = self.rows[:, self.places(seq, 0, self.length[seq])]
        return k, v
