# bug: a lane's map of slots is made anew only when the number of blocks differs, and outlives the sequence
# caught by: paged, capacity
# passes: incremental_equals_full, isolation, chunked_prefill
"""Paged key/value storage: fixed-size blocks, one block table row per live sequence."""
from collections import deque
from typing import Tuple

import numpy as np


class OutOfBlocks(RuntimeError):
    """The pool cannot hold the tokens; nothing was written."""


class BlockKVCache:
    """K and V for all layers, in ``num_blocks`` blocks of ``block_size`` tokens.

    Storage is (layers, num_blocks, block_size, kv_heads, head_dim).  A sequence is a *lane*: a row of the block table, handed
    out by ``open`` and returned by ``close``.  Token t of a lane is at block ``table[lane, t // bs]``, offset ``t % bs``.
    """

    def __init__(self, layers: int, kv_heads: int, head_dim: int, num_blocks: int = 64, block_size: int = 16,
                 max_lanes: int = 32, dtype=np.float64) -> None:
        shape = (layers, num_blocks, block_size, kv_heads, head_dim)
        self.keys = np.zeros(shape, dtype)
        self.values = np.zeros(shape, dtype)
        self.block_size = block_size
        self.table = np.full((max_lanes, num_blocks), -1, np.int32)
        self.lengths = np.zeros(max_lanes, np.int64)
        self.open_lanes = np.zeros(max_lanes, bool)
        # Oldest-freed first: a block keeps its content for as long as possible, which helps when debugging.
        self._free_blocks = deque(range(num_blocks))
        self._slot_maps = {}                      # lane -> flat slots of its blocks, extended as blocks arrive

    # -- lanes ------------------------------------------------------------------------------------------
    def open(self) -> int:
        """Start an empty sequence in the lowest unused lane."""
        unused = np.flatnonzero(~self.open_lanes)
        if not len(unused):
            raise OutOfBlocks("all lanes are in use")
        lane = int(unused[0])
        self.open_lanes[lane] = True
        self.lengths[lane] = 0
        return lane

    def close(self, lane: int) -> None:
        """Finish a sequence and give its blocks back."""
        self._require(lane)
        used = self.blocks_of(lane)
        self._free_blocks.extend(int(b) for b in self.table[lane, :used])
        self.table[lane] = -1
        self.lengths[lane] = 0
        self.open_lanes[lane] = False

    def _require(self, lane: int) -> None:
        if not (0 <= lane < len(self.open_lanes) and self.open_lanes[lane]):
            raise KeyError(f"lane {lane} is not open")

    # -- writing and reading ----------------------------------------------------------------------------
    def blocks_of(self, lane: int) -> int:
        return -(-int(self.lengths[lane]) // self.block_size)

    def extend(self, lane: int, k: np.ndarray, v: np.ndarray) -> None:
        """Append k, v of shape (layers, n, kv_heads, head_dim); n = 1 when decoding."""
        self._require(lane)
        if k.shape != v.shape or k.shape[0] != self.keys.shape[0] or k.shape[2:] != self.keys.shape[3:]:
            raise ValueError(f"bad shapes {k.shape}, {v.shape}")
        start, n, bs = int(self.lengths[lane]), k.shape[1], self.block_size
        have, need = self.blocks_of(lane), -(-(start + n) // bs)
        if need - have > len(self._free_blocks):
            raise OutOfBlocks(f"need {need - have} blocks, {len(self._free_blocks)} are free")
        for j in range(have, need):
            self.table[lane, j] = self._free_blocks.popleft()
        t = np.arange(start, start + n)
        block, offset = self.table[lane, t // bs], t % bs
        self.keys[:, block, offset] = k
        self.values[:, block, offset] = v
        self.lengths[lane] = start + n

    def slots(self, lane: int) -> np.ndarray:
        """Flat slot (block * block_size + offset) of every token of the lane, in order of time.

        Only a new block changes the map, so it is rebuilt once per ``block_size`` decode steps.
        """
        self._require(lane)
        used = self.blocks_of(lane)
        flat = self._slot_maps.get(lane)
        if flat is None or len(flat) != used * self.block_size:
            blocks = self.table[lane, :used].astype(np.int64)
            flat = (blocks[:, None] * self.block_size + np.arange(self.block_size)).ravel()
            self._slot_maps[lane] = flat
        return flat[:self.lengths[lane]]

    def gather(self, lane: int, layer: int) -> Tuple[np.ndarray, np.ndarray]:
        """Contiguous copies of (k, v), each (tokens, kv_heads, head_dim)."""
        s = self.slots(lane)
        tail = self.keys.shape[3:]
        return self.keys[layer].reshape(-1, *tail)[s], self.values[layer].reshape(-1, *tail)[s]

    # -- accounting -------------------------------------------------------------------------------------
    @property
    def free_blocks(self) -> int:
        return len(self._free_blocks)

    def utilization(self) -> float:
        """Written tokens per slot of the blocks that are taken (1.0 when nothing is)."""
        taken = (self.keys.shape[1] - self.free_blocks) * self.block_size
        return float(self.lengths.sum()) / taken if taken else 1.0

    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes
