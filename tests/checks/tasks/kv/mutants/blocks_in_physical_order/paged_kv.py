"""Paged KV cache: a fixed pool of blocks, handed out on demand.

Pool layout: (layers, blocks, kv_heads, block_size, head_dim), once for keys and once for values.  Bookkeeping is kept
in flat arrays rather than in per-sequence lists: ``owner[block]`` is the sequence that holds a block (-1: free).
"""
from __future__ import annotations

import heapq
from typing import Dict, Tuple

import numpy as np

FREE = -1


class CacheError(Exception):
    """Base of all errors of this module."""


class PoolExhausted(CacheError):
    pass


class UnknownSequence(CacheError, KeyError):
    pass


class PagedKVCache:
    def __init__(self, num_layers: int, num_kv_heads: int, head_dim: int, num_blocks: int,
                 block_size: int = 16, dtype=np.float32) -> None:
        shape = (num_layers, num_blocks, num_kv_heads, block_size, head_dim)
        self.k_pool = np.zeros(shape, dtype)
        self.v_pool = np.zeros(shape, dtype)
        self.block_size = block_size
        self.owner = np.full(num_blocks, FREE, np.int32)
        self._free_heap = list(range(num_blocks))          # lowest block first: keeps the pool dense
        self._open_block: Dict[int, int] = {}              # sequence -> block being filled
        self._length: Dict[int, int] = {}
        self._next_id = 0

    # ------------------------------------------------------------------ sequences
    def add_sequence(self) -> int:
        seq = self._next_id
        self._next_id += 1
        self._length[seq] = 0
        return seq

    def free_sequence(self, seq: int) -> None:
        """Return all blocks of a sequence to the pool."""
        self._check(seq)
        for block in self.blocks_of(seq):
            self.owner[block] = FREE
            heapq.heappush(self._free_heap, int(block))
        del self._length[seq]
        self._open_block.pop(seq, None)

    def _check(self, seq: int) -> None:
        if seq not in self._length:
            raise UnknownSequence(f"sequence {seq} does not exist")

    def length(self, seq: int) -> int:
        self._check(seq)
        return self._length[seq]

    def blocks_of(self, seq: int) -> np.ndarray:
        """The block table of a sequence."""
        self._check(seq)
        return np.flatnonzero(self.owner == seq)

    # ------------------------------------------------------------------ writing and reading
    def append(self, seq: int, keys: np.ndarray, values: np.ndarray) -> None:
        """Append T tokens of all layers: keys and values (layers, kv_heads, T, head_dim)."""
        start = self.length(seq)
        layers, _, heads, size, dim = self.k_pool.shape
        count = keys.shape[2]
        if keys.shape != (layers, heads, count, dim) or values.shape != keys.shape:
            raise ValueError(f"expected ({layers}, {heads}, T, {dim}), got {keys.shape} and {values.shape}")
        needed = -(-(start + count) // size) - -(-start // size)
        if needed > len(self._free_heap):
            raise PoolExhausted(f"{needed} blocks needed, {len(self._free_heap)} left")
        done = 0
        while done < count:
            slot = (start + done) % size
            if slot == 0:
                block = heapq.heappop(self._free_heap)
                self.owner[block] = seq
                self._open_block[seq] = block
            block = self._open_block[seq]
            n = min(size - slot, count - done)
            self.k_pool[:, block, :, slot:slot + n] = keys[:, :, done:done + n]
            self.v_pool[:, block, :, slot:slot + n] = values[:, :, done:done + n]
            done += n
        self._length[seq] = start + count

    def gather(self, seq: int, layer: int) -> Tuple[np.ndarray, np.ndarray]:
        """Contiguous keys and values (kv_heads, S, head_dim) of one layer."""
        table, n = self.blocks_of(seq), self._length[seq]
        _, _, heads, _, dim = self.k_pool.shape

        def flat(pool):
            return pool[layer, table].transpose(1, 0, 2, 3).reshape(heads, -1, dim)[:, :n]
        return flat(self.k_pool), flat(self.v_pool)

    # ------------------------------------------------------------------ statistics
    @property
    def num_free_blocks(self) -> int:
        return len(self._free_heap)

    def utilization(self) -> float:
        """Tokens stored over tokens that the blocks in use could hold."""
        used = int((self.owner != FREE).sum()) * self.block_size
        return sum(self._length.values()) / used if used else 1.0

    def memory_bytes(self) -> Dict[str, int]:
        total = self.k_pool.nbytes + self.v_pool.nbytes
        per_token = total // (self.owner.size * self.block_size)
        return {"allocated": total, "per_token": per_token, "used": per_token * sum(self._length.values())}
