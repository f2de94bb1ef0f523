# bug: rows are remembered by number and blocks of a sequence, and freeing it does not forget them
# caught by: paged
# passes: incremental_equals_full, gqa
"""Paged KV storage with block tables, in the spirit of vLLM's PagedAttention.

    store = PagedKVStore(n_layers=2, n_blocks=64, block_size=16, n_kv_heads=2, head_dim=64)
    seq = store.add()
    store.append(seq, layer, k, v)      # k, v: (T, n_kv_heads, head_dim), T >= 1
    out = store.attention(seq, layer, q)  # q: (T, n_heads, head_dim), the last T positions
    store.free(seq)

Physical layout: (n_layers, n_blocks * block_size, n_kv_heads, head_dim), one
pool for K and one for V.  All layers share one block table per sequence.
"""
from __future__ import annotations

import heapq
import math

import numpy as np


class OutOfBlocks(RuntimeError):
    """The pool holds fewer free blocks than the request needs."""


class UnknownSequence(KeyError):
    """The id was never handed out, or has been freed."""


class BlockAllocator:
    """LIFO free list: recently freed blocks are warm and are handed out first."""

    def __init__(self, n_blocks: int) -> None:
        self._free = list(range(n_blocks - 1, -1, -1))
        self.n_blocks = n_blocks

    @property
    def n_free(self) -> int:
        return len(self._free)

    def take(self, count: int) -> list[int]:
        if count > len(self._free):
            raise OutOfBlocks(f"need {count} blocks, {len(self._free)} free")
        return [self._free.pop() for _ in range(count)]

    def give(self, blocks: list[int]) -> None:
        self._free.extend(reversed(blocks))


class PagedKVStore:
    """Block-paged K/V for many sequences of independent lengths."""

    def __init__(self, n_layers: int, n_blocks: int, block_size: int, n_kv_heads: int,
                 head_dim: int, dtype=np.float32) -> None:
        shape = (n_layers, n_blocks * block_size, n_kv_heads, head_dim)
        self.k_pool = np.zeros(shape, dtype)
        self.v_pool = np.zeros(shape, dtype)
        self.n_layers, self.block_size, self.n_kv_heads = n_layers, block_size, n_kv_heads
        self.allocator = BlockAllocator(n_blocks)
        self._tables: dict[int, list[int]] = {}
        self._fill: dict[int, np.ndarray] = {}      # tokens per layer
        self._rows: dict[tuple[int, int], np.ndarray] = {}
        self._next_id = 0
        self._spare_ids: list[int] = []

    # -- sequences ---------------------------------------------------------
    def add(self) -> int:
        """Register a sequence; ids are dense, the smallest spare one is used."""
        if self._spare_ids:
            seq = heapq.heappop(self._spare_ids)
        else:
            seq, self._next_id = self._next_id, self._next_id + 1
        self._tables[seq] = []
        self._fill[seq] = np.zeros(self.n_layers, np.int64)
        return seq

    def free(self, seq: int) -> None:
        """Return all blocks of the sequence to the pool."""
        self._require(seq)
        self.allocator.give(self._tables.pop(seq))
        del self._fill[seq]
        heapq.heappush(self._spare_ids, seq)

    def length(self, seq: int, layer: int = 0) -> int:
        self._require(seq)
        return int(self._fill[seq][layer])

    def block_table(self, seq: int) -> tuple[int, ...]:
        self._require(seq)
        return tuple(self._tables[seq])

    def _require(self, seq: int) -> None:
        if seq not in self._tables:
            raise UnknownSequence(seq)

    # -- data --------------------------------------------------------------
    def _slots(self, seq: int, start: int, stop: int) -> np.ndarray:
        """Pool rows of the positions start..stop-1.

        A table only ever grows, so the rows of its first n blocks are expanded
        once per (sequence, n) instead of at every layer of every step.
        """
        n = -(-stop // self.block_size)
        rows = self._rows.get((seq, n))
        if rows is None:
            table = np.asarray(self._tables[seq][:n], np.int32)
            rows = (table[:, None] * self.block_size
                    + np.arange(self.block_size, dtype=np.int32)).ravel()
            self._rows.pop((seq, n - 1), None)      # superseded
            self._rows[seq, n] = rows
        return rows[start:stop]

    def append(self, seq: int, layer: int, k: np.ndarray, v: np.ndarray) -> None:
        """Append T tokens to one layer; nothing is written if the pool is too small."""
        self._require(seq)
        if k.shape != v.shape or k.ndim != 3 or k.shape[1:] != self.k_pool.shape[2:]:
            raise ValueError(f"expected (T, {self.n_kv_heads}, head_dim), got {k.shape}, {v.shape}")
        start = int(self._fill[seq][layer])
        stop = start + k.shape[0]
        table = self._tables[seq]
        table.extend(self.allocator.take(max(0, -(-stop // self.block_size) - len(table))))
        slots = self._table_rows(seq, start, stop)
        self.k_pool[layer, slots] = k
        self.v_pool[layer, slots] = v
        self._fill[seq][layer] = stop

    def _table_rows(self, seq: int, start: int, stop: int) -> np.ndarray:
        pos = np.arange(start, stop)
        table = np.asarray(self._tables[seq], np.int64)
        return table[pos // self.block_size] * self.block_size + pos % self.block_size

    def gather(self, seq: int, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """K and V in logical order, (length, n_kv_heads, head_dim) each."""
        slots = self._slots(seq, 0, self.length(seq, layer))
        return self.k_pool[layer, slots], self.v_pool[layer, slots]

    def attention(self, seq: int, layer: int, q: np.ndarray) -> np.ndarray:
        """Causal attention of the last T positions; q (T, n_heads, head_dim)."""
        k, v = self.gather(seq, layer)
        t, n_heads, dim = q.shape
        s = k.shape[0]
        if t > s:
            raise ValueError(f"{t} queries but only {s} cached tokens")
        if n_heads % self.n_kv_heads:
            raise ValueError("n_heads must be a multiple of n_kv_heads")
        qg = q.reshape(t, self.n_kv_heads, n_heads // self.n_kv_heads, dim)
        scores = np.einsum("tgrd,sgd->grts", qg, k) / q.dtype.type(math.sqrt(dim))
        ahead = np.arange(s)[None, :] > np.arange(s - t, s)[:, None]
        scores = np.where(ahead, -np.inf, scores)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        scores /= scores.sum(-1, keepdims=True)
        return np.einsum("grts,sgd->tgrd", scores, v).reshape(t, n_heads, dim)

    # -- accounting --------------------------------------------------------
    def utilization(self) -> float:
        """Stored tokens over the slots of the allocated blocks (1.0 when none)."""
        held = (self.allocator.n_blocks - self.allocator.n_free) * self.block_size
        return sum(int(f.max()) for f in self._fill.values()) / held if held else 1.0

    def bytes_per_token(self) -> int:
        return 2 * self.n_layers * self.k_pool[0, 0].nbytes
