"""Physical blocks and who holds them."""


class OutOfBlocks(RuntimeError):
    pass


class BlockAllocator:
    """A free list of physical block numbers."""

    def __init__(self, num_blocks):
        self.num_blocks = num_blocks
        self._free = list(reversed(range(num_blocks)))

    @property
    def num_free(self):
        return len(self._free)

    def allocate(self):
        if not self._free:
            raise OutOfBlocks("no free KV blocks")
        return self._free.pop()

    def release(self, block):
        if block in self._free:
            raise ValueError(f"block {block} is free already")
        self._free.append(block)
