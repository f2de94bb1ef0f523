"""Paged KV cache with block tables, reference-counted forks and copy-on-write.

Pool layout: ``keys`` / ``values`` (layers, num_blocks + 1, block_size, kv_heads, head_dim).  Physical block 0 is the null
block: it is never handed out, and block tables exported by :meth:`PagedKVCache.block_table_array` are padded with it.
``num_blocks`` counts usable blocks only.
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Sequence

import numpy as np

NULL_BLOCK = 0


class OutOfBlocks(MemoryError):
    """The pool cannot serve the request; nothing was changed."""


class UnknownSequence(KeyError):
    """The sequence id was never issued or has been freed."""


@dataclass
class _Sequence:
    blocks: list[int] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)  # tokens per layer


class PagedKVCache:
    def __init__(self, num_blocks: int, block_size: int, *, num_layers: int = 1, num_kv_heads: int, head_dim: int,
                 dtype: np.dtype | type = np.float32):
        if min(num_blocks, block_size, num_layers, num_kv_heads, head_dim) <= 0:
            raise ValueError("sizes must be positive")
        self.num_blocks, self.block_size, self.num_layers = num_blocks, block_size, num_layers
        shape = (num_layers, num_blocks + 1, block_size, num_kv_heads, head_dim)
        self.keys, self.values = np.zeros(shape, dtype), np.zeros(shape, dtype)
        self.refs = np.zeros(num_blocks + 1, np.int32)
        self._free = list(range(num_blocks, NULL_BLOCK, -1))
        self._seqs: dict[int, _Sequence] = {}
        self._next_id = 0

    # ------------------------------------------------------------------ life cycle
    def add_sequence(self) -> int:
        """Register an empty sequence and return its id.  Ids are never reused."""
        self._next_id += 1
        self._seqs[self._next_id] = _Sequence(filled=[0] * self.num_layers)
        return self._next_id

    def fork(self, seq_id: int) -> int:
        """A new sequence that shares every block of ``seq_id`` until one of the two writes."""
        parent = self._get(seq_id)
        child = self.add_sequence()
        self._seqs[child] = _Sequence(list(parent.blocks), list(parent.filled))
        self.refs[parent.blocks] += 1
        return child

    def free(self, seq_id: int) -> None:
        """Release a sequence.  Raises :class:`UnknownSequence` if it is not alive (a second free included)."""
        seq = self._get(seq_id)
        del self._seqs[seq_id]
        for block in reversed(seq.blocks):
            self._release(block)

    # ------------------------------------------------------------------ data
    def append(self, layer: int, seq_id: int, k: np.ndarray, v: np.ndarray) -> None:
        """Write (T, kv_heads, head_dim) keys and values behind the tokens that ``layer`` already has."""
        seq = self._get(seq_id)
        k, v = np.asarray(k), np.asarray(v)
        if k.shape != v.shape or k.ndim != 3 or k.shape[1:] != self.keys.shape[3:]:
            raise ValueError(f"k and v must be (T, {self.keys.shape[3]}, {self.keys.shape[4]}), got {k.shape}, {v.shape}")
        start, stop = seq.filled[layer], seq.filled[layer] + len(k)
        if start == stop:
            return
        self._make_writable(seq, start, stop)
        position = np.arange(start, stop)
        block = np.asarray(seq.blocks)[position // self.block_size]
        self.keys[layer, block, position % self.block_size] = k
        self.values[layer, block, position % self.block_size] = v
        seq.filled[layer] = stop

    def gather(self, layer: int, seq_id: int) -> tuple[np.ndarray, np.ndarray]:
        """Contiguous copies (S, kv_heads, head_dim) of what ``layer`` holds for the sequence."""
        seq = self._get(seq_id)
        n = seq.filled[layer]
        blocks = seq.blocks[:-(-n // self.block_size)]
        tail = self.keys.shape[3:]
        return (self.keys[layer, blocks].reshape(-1, *tail)[:n], self.values[layer, blocks].reshape(-1, *tail)[:n])

    def length(self, seq_id: int, layer: int = 0) -> int:
        return self._get(seq_id).filled[layer]

    # ------------------------------------------------------------------ inspection
    @property
    def num_free_blocks(self) -> int:
        return len(self._free)

    @property
    def nbytes(self) -> int:
        return self.keys.nbytes + self.values.nbytes

    def block_table_array(self, seq_ids: Sequence[int]) -> np.ndarray:
        """(len(seq_ids), longest table) int32, padded with the null block."""
        tables = [self._get(s).blocks for s in seq_ids]
        out = np.full((len(tables), max(map(len, tables), default=0)), NULL_BLOCK, np.int32)
        for row, table in zip(out, tables):
            row[:len(table)] = table
        return out

    def utilization(self) -> float:
        """Distinct tokens held over token slots in allocated blocks (1.0 for an empty pool)."""
        used = {}
        for seq in self._seqs.values():
            for i, block in enumerate(seq.blocks):
                here = min(max(max(seq.filled) - i * self.block_size, 0), self.block_size)
                used[block] = max(used.get(block, 0), here)
        return sum(used.values()) / (len(used) * self.block_size) if used else 1.0

    # ------------------------------------------------------------------ internals
    def _get(self, seq_id: int) -> _Sequence:
        try:
            return self._seqs[seq_id]
        except KeyError:
            raise UnknownSequence(f"sequence {seq_id} is not alive") from None

    def _release(self, block: int) -> None:
        self.refs[block] -= 1
        if self.refs[block] == 0:
            self._free.append(block)

    def _make_writable(self, seq: _Sequence, start: int, stop: int) -> None:
        """Own every block of [start, stop) exclusively; all or nothing."""
        first, last = start // self.block_size, (stop - 1) // self.block_size
        shared = [i for i in range(first, min(last + 1, len(seq.blocks))) if self.refs[seq.blocks[i]] > 1]
        missing = max(0, last + 1 - len(seq.blocks))
        if len(shared) + missing > len(self._free):
            raise OutOfBlocks(f"{len(shared) + missing} blocks needed, {len(self._free)} free")
        for i in shared:
            old, new = seq.blocks[i], self._take()
            self.keys[:, new], self.values[:, new] = self.keys[:, old], self.values[:, old]
            seq.blocks[i] = new
            self._release(old)
        seq.blocks.extend(self._take() for _ in range(missing))

    def _take(self) -> int:
        block = self._free.pop()
        self.refs[block] = 1
        return block


# ---------------------------------------------------------------------- memory planning
def kv_bytes_per_token(num_layers: int, num_kv_heads: int, head_dim: int, bytes_per_element: int = 2) -> int:
    """Keys and values of one token over all layers."""
    return 2 * num_layers * num_kv_heads * head_dim * bytes_per_element


def max_context_tokens(gpu_memory_gib: float, weights_gib: float, bytes_per_token: int, batch_size: int = 1) -> int:
    """Longest context that ``batch_size`` equal sequences can have (1 GiB = 2**30 bytes)."""
    spare = (gpu_memory_gib - weights_gib) * 2 ** 30
    return max(0, int(spare // (bytes_per_token * batch_size)))
