# style: a pool that hands out handles, with iterators over pages, and an engine over it
# passes: paged, incremental_equals_full, gqa, memory_model
"""Paged key/value storage.

One contiguous slab holds every block of every layer; sequences own *block
tables* (lists of block ids).  Nothing in this file knows about attention.

    slab : (num_blocks, num_layers, 2, kv_heads, block_size, head_dim)
                                    ^ 0 = key, 1 = value
"""
from __future__ import annotations

from dataclasses import dataclass, field
from typing import Dict, Iterator, List, Tuple

import numpy as np


class PoolExhausted(MemoryError):
    """No free block is left; the failed append has changed nothing."""


class UnknownSequence(KeyError):
    """The handle was never opened, or has been closed."""


@dataclass(frozen=True)
class PoolSpec:
    num_layers: int
    kv_heads: int
    head_dim: int
    num_blocks: int = 64
    block_size: int = 16
    dtype: str = "float32"

    def bytes_per_token(self) -> int:
        """K and V of one token, through all layers."""
        return 2 * self.num_layers * self.kv_heads * self.head_dim * np.dtype(self.dtype).itemsize

    def bytes_per_block(self) -> int:
        return self.block_size * self.bytes_per_token()

    def max_context(self, budget_bytes: int, weight_bytes: int = 0) -> int:
        """Tokens which fit in ``budget_bytes`` once the weights are resident.

        Whole blocks only: what cannot be allocated cannot be used.
        """
        spare = max(0, int(budget_bytes) - int(weight_bytes))
        return spare // self.bytes_per_block() * self.block_size


@dataclass
class _Record:
    blocks: List[int] = field(default_factory=list)
    fill: List[int] = field(default_factory=list)      # one write cursor per layer


class KVPool:
    """Fixed-capacity paged KV cache.

    Handles are integers given out by :meth:`open` and never reused, so a stale
    handle can be told from a live one.
    """

    def __init__(self, spec: PoolSpec):
        if min(spec.num_layers, spec.kv_heads, spec.head_dim, spec.num_blocks, spec.block_size) < 1:
            raise ValueError("every extent of the pool must be positive")
        self.spec = spec
        self.slab = np.empty(
            (spec.num_blocks, spec.num_layers, 2, spec.kv_heads, spec.block_size, spec.head_dim),
            dtype=spec.dtype)
        self._free: List[int] = list(range(spec.num_blocks - 1, -1, -1))
        self._live: Dict[int, _Record] = {}
        self._next_handle = 1

    # -- life cycle --------------------------------------------------------
    def open(self) -> int:
        handle = self._next_handle
        self._next_handle += 1
        self._live[handle] = _Record(fill=[0] * self.spec.num_layers)
        return handle

    def close(self, handle: int) -> int:
        """Give the blocks back; returns how many.  Closing twice is a no-op (0).

        A handle which was never issued is an error.
        """
        record = self._live.pop(handle, None)
        if record is None:
            if not (isinstance(handle, (int, np.integer)) and 0 < handle < self._next_handle):
                raise UnknownSequence(handle)
            return 0
        self._free.extend(reversed(record.blocks))
        return len(record.blocks)

    # -- writing -----------------------------------------------------------
    def append(self, handle: int, layer: int, k: np.ndarray, v: np.ndarray) -> Tuple[int, int]:
        """Append ``k``/``v`` of shape (T, kv_heads, head_dim), or one token (kv_heads, head_dim).

        Returns the half-open range of positions written.
        """
        spec, record = self.spec, self._record(handle)
        if not 0 <= layer < spec.num_layers:
            raise IndexError(f"layer {layer} of {spec.num_layers}")
        k, v = (np.asarray(a)[None] if np.ndim(a) == 2 else np.asarray(a) for a in (k, v))
        if k.shape != v.shape or k.shape[1:] != (spec.kv_heads, spec.head_dim):
            raise ValueError(f"expected (T, {spec.kv_heads}, {spec.head_dim}), got {k.shape} / {v.shape}")
        first = record.fill[layer]
        last = first + k.shape[0]
        self._grow_to(record, last)
        bs = spec.block_size
        pos = first
        while pos < last:
            block, offset = record.blocks[pos // bs], pos % bs
            n = min(bs - offset, last - pos)
            src = slice(pos - first, pos - first + n)
            self.slab[block, layer, 0, :, offset:offset + n] = k[src].swapaxes(0, 1)
            self.slab[block, layer, 1, :, offset:offset + n] = v[src].swapaxes(0, 1)
            pos += n
        record.fill[layer] = last
        return first, last

    def _grow_to(self, record: _Record, tokens: int) -> None:
        missing = -(-tokens // self.spec.block_size) - len(record.blocks)
        if missing > len(self._free):
            raise PoolExhausted(f"{missing} block(s) wanted, {len(self._free)} free")
        for _ in range(missing):
            record.blocks.append(self._free.pop())

    # -- reading -----------------------------------------------------------
    def pages(self, handle: int, layer: int) -> Iterator[Tuple[int, np.ndarray, np.ndarray]]:
        """Yield (first position, K view, V view), each view (kv_heads, n, head_dim).

        Views end at the write cursor: bytes past it never leave this class.
        """
        record, bs = self._record(handle), self.spec.block_size
        stop = record.fill[layer]
        for i, block in enumerate(record.blocks):
            n = min(bs, stop - i * bs)
            if n <= 0:
                return
            yield i * bs, self.slab[block, layer, 0, :, :n], self.slab[block, layer, 1, :, :n]

    def read(self, handle: int, layer: int) -> Tuple[np.ndarray, np.ndarray]:
        """Contiguous copies of K and V, each (length, kv_heads, head_dim)."""
        n = self.length(handle, layer)
        shape = (n, self.spec.kv_heads, self.spec.head_dim)
        k, v = np.empty(shape, self.slab.dtype), np.empty(shape, self.slab.dtype)
        for start, kp, vp in self.pages(handle, layer):
            k[start:start + kp.shape[1]] = kp.swapaxes(0, 1)
            v[start:start + vp.shape[1]] = vp.swapaxes(0, 1)
        return k, v

    # -- book-keeping ------------------------------------------------------
    def length(self, handle: int, layer: int = -1) -> int:
        return self._record(handle).fill[layer]

    def block_table(self, handle: int) -> Tuple[int, ...]:
        return tuple(self._record(handle).blocks)

    @property
    def free_blocks(self) -> int:
        return len(self._free)

    def stats(self) -> Dict[str, float]:
        used = self.spec.num_blocks - len(self._free)
        tokens = sum(min(r.fill) for r in self._live.values())
        return {"allocated_bytes": self.slab.nbytes,
                "reserved_bytes": used * self.spec.bytes_per_block(),
                "used_bytes": tokens * self.spec.bytes_per_token(),
                "utilization": tokens / (used * self.spec.block_size) if used else 1.0}

    def _record(self, handle: int) -> _Record:
        try:
            return self._live[handle]
        except KeyError:
            raise UnknownSequence(handle) from None
