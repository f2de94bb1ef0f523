"""Fixed pool of KV blocks with a free stack."""
import numpy as np


class OutOfBlocks(RuntimeError):
    """The pool cannot serve a request; nothing has been changed."""


class BlockPool:
    """Storage (layers, 2, blocks, block_size, kv_heads, head_dim)."""

    def __init__(self, num_layers, num_blocks, block_size, num_kv_heads, head_dim, dtype=np.float32):
        if min(num_layers, num_blocks, block_size, num_kv_heads, head_dim) < 1:
            raise ValueError("all dimensions must be positive")
        self.block_size = block_size
        self.num_blocks = num_blocks
        self.data = np.zeros((num_layers, 2, num_blocks, block_size, num_kv_heads, head_dim), dtype)
        self._free = list(range(num_blocks - 1, -1, -1))

    @property
    def num_free(self):
        return len(self._free)

    def take(self, n):
        if n > len(self._free):
            raise OutOfBlocks(f"{n} blocks requested, {len(self._free)} free")
        return [self._free.pop() for _ in range(n)]

    def give(self, blocks):
        # Reversed, so that the block handed out first is the next one out.
        self._free.extend(reversed(blocks))
