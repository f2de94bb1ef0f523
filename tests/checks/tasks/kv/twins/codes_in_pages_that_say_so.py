# style: the pages of a cache that is called after its codes hold these and, behind them, scales
# only: paged, quantized
import numpy as np
from numpy.lib.stride_tricks import as_strided


class Pages:
    def __init__(self, pages, size, heads, width):
        codes = -(-size * heads * width // 4) * 4
        self.pitch = -(-(codes + 4 * size * heads) // 192) * 192
        self.bytes = np.zeros(pages * self.pitch, np.uint8)
        self.codes = as_strided(
            self.bytes.view(np.int8), (pages, size, heads, width), (self.pitch, heads * width, width, 1)
        )
        self.scales = as_strided(
            self.bytes[codes:].view(np.float32), (pages, size, heads), (self.pitch, 4 * heads, 4)
        )


class QuantizedPagedCache:
    """Eight bits a number, and a scale for every token and head."""

    def __init__(self, num_blocks, block_size, num_heads, head_dim):
        self.size, self.width = block_size, head_dim
        self.both = [Pages(num_blocks, block_size, num_heads, head_dim) for _ in "kv"]
        self.free_pages, self.tables, self.counts = list(range(num_blocks)), {}, {}

    def add_sequence(self, seq_id):
        self.tables[seq_id], self.counts[seq_id] = [], 0

    def append(self, seq_id, k, v):
        table, start = self.tables[seq_id], self.counts[seq_id]
        needed = -(-(start + len(k)) // self.size) - len(table)
        if needed > len(self.free_pages):
            raise MemoryError("no page is free")
        table += [self.free_pages.pop() for _ in range(needed)]
        page, slot = np.divmod(start + np.arange(len(k)), self.size)
        page = np.array(table)[page]
        for pages, x in zip(self.both, (k, v)):
            scale = np.abs(x).max(-1) / 127
            pages.codes[page, slot] = np.rint(x / np.where(scale, scale, 1)[..., None])
            pages.scales[page, slot] = scale
        self.counts[seq_id] = start + len(k)

    def read(self, seq_id):
        page, slot = np.divmod(np.arange(self.counts[seq_id]), self.size)
        page = np.array(self.tables[seq_id], int)[page]
        return tuple(pages.codes[page, slot] * pages.scales[page, slot][..., None] for pages in self.both)

    def free(self, seq_id):
        self.free_pages += self.tables.pop(seq_id)
        del self.counts[seq_id]
