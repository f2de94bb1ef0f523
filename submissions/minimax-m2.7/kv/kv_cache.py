"""
╔══════════════════════════════════════════════════════════════════════════════╗
║          KV-CACHE SYSTEM FOR AUTOREGRESSIVE TRANSFORMER INFERENCE            ║
║          Pure NumPy implementation - no deep learning frameworks             ║
╚══════════════════════════════════════════════════════════════════════════════╝

OVERVIEW
========

This module implements a complete KV-cache system for efficient autoregressive
inference with Transformer decoders. It covers:

    1. Memory formats             (BHSD, BSHD, PAGED, HBSD)
    2. Flat, pre-allocated cache  (FlatKVCache)
    3. Paged, block-based cache   (KVCacheBlock, BlockAllocator, PagedKVCache)
    4. Multi-head attention       (MultiHeadAttention)
    5. Transformer integration    (TransformerBlock, TransformerBlockStack)
    6. Batched inference          (BatchedInferenceEngine)
    7. Generation                 (KVCacheAwareGenerator)
    8. Memory analysis            (MemoryAnalyzer)
    9. Optimizations and GPU mapping (paged attention, chunked prefill,
       quantization)

THE PROBLEM
===========

In autoregressive generation, the model produces one token at a time. Token t
attends to all tokens 0..t:

                    keys / values
                 t0   t1   t2   t3   t4
              ┌────┬────┬────┬────┬────┐
    query t0  │ ██ │    │    │    │    │
              ├────┼────┼────┼────┼────┤
    query t1  │ ██ │ ██ │    │    │    │
              ├────┼────┼────┼────┼────┤
    query t2  │ ██ │ ██ │ ██ │    │    │
              ├────┼────┼────┼────┼────┤
    query t3  │ ██ │ ██ │ ██ │ ██ │    │
              ├────┼────┼────┼────┼────┤
    query t4  │ ██ │ ██ │ ██ │ ██ │ ██ │   <- only this row is new at step 4
              └────┴────┴────┴────┴────┘

Without a cache, all K and V vectors are recomputed at every step, although all
of them except for the newest are the same as before.

THE SOLUTION
============

    ┌──────────────────────────────────────────────────────────────────────┐
    │ PREFILL                                                              │
    │                                                                      │
    │   prompt (S tokens) ──> Q, K, V ──> attention ──> hidden states      │
    │                            │                                         │
    │                            └──────> KV-CACHE (S entries)             │
    ├──────────────────────────────────────────────────────────────────────┤
    │ DECODE (repeated)                                                    │
    │                                                                      │
    │   1 token ──> q, k, v                                                │
    │               │  └──┴──> KV-CACHE (append: S + 1 entries)            │
    │               │              │                                       │
    │               └──> attention over the cache ──> hidden state         │
    └──────────────────────────────────────────────────────────────────────┘

COMPLEXITY SUMMARY
==================

    S = current sequence length, T = number of generated tokens,
    E = embedding dimension, L = number of layers

    ┌─────────────────────┬──────────────────────┬──────────────────────────┐
    │ Operation           │ Without cache        │ With cache               │
    ├─────────────────────┼──────────────────────┼──────────────────────────┤
    │ K/V projections/step│ O(L * S * E^2)       │ O(L * E^2)               │
    │ Attention per step  │ O(L * S^2 * E)       │ O(L * S * E)             │
    │ Total projections   │ O(L * T^2 * E^2)     │ O(L * T * E^2)           │
    │ Total attention     │ O(L * T^3 * E)       │ O(L * T^2 * E)           │
    │ Extra memory        │ O(1)                 │ O(L * S * E)             │
    └─────────────────────┴──────────────────────┴──────────────────────────┘
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Dict, List, Optional, Sequence, Set, Tuple, Union

import numpy as np


# Type aliases used throughout this module.
Array = np.ndarray
KVPair = Tuple[np.ndarray, np.ndarray]
LayerKVDict = Dict[int, KVPair]


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 1: MEMORY FORMATS
# ══════════════════════════════════════════════════════════════════════════════
#
# The order of the dimensions in memory decides which accesses are contiguous.
# In row-major (C) order the LAST dimension is the fastest one.
#
#   Let B = batch, H = heads, S = sequence, D = head dimension.
#
#   ┌────────┬────────────────────────┬──────────────────────────────────────┐
#   │ Format │ Shape                  │ Contiguous unit                      │
#   ├────────┼────────────────────────┼──────────────────────────────────────┤
#   │ BHSD   │ [B, H, S, D]           │ all positions of ONE head (S * D)    │
#   │ BSHD   │ [B, S, H, D]           │ all heads of ONE position (H * D)    │
#   │ HBSD   │ [H, B, S, D]           │ all batches of ONE head (B * S * D)  │
#   │ PAGED  │ [blocks, bs, H, D]     │ one block of bs positions            │
#   └────────┴────────────────────────┴──────────────────────────────────────┘
#
#   Access patterns of one decode step:
#
#       WRITE: one position, all heads     -> BSHD is best (one memcpy of H*D)
#       READ:  all positions, per head     -> BHSD is best (one stream of S*D)
#
#   The read dominates, therefore BHSD is the default for attention.
#
# ──────────────────────────────────────────────────────────────────────────────


class MemoryFormat(Enum):
    """
    Supported memory formats of the key and value tensors.

    Members:
        BHSD:  [batch, heads, seq, dim]. Best for attention reads.
        BSHD:  [batch, seq, heads, dim]. Best for appending tokens.
        PAGED: [num_blocks, block_size, heads, dim]. Best for dynamic batches.
        HBSD:  [heads, batch, seq, dim]. Best for tensor parallelism, as the
               heads of one device are one contiguous slab.
    """

    BHSD = "bhsd"
    BSHD = "bshd"
    PAGED = "paged"
    HBSD = "hbsd"

    @property
    def axis_names(self) -> Tuple[str, str, str, str]:
        """Names of the four axes, slowest first."""
        names: Dict[MemoryFormat, Tuple[str, str, str, str]] = {
            MemoryFormat.BHSD: ("batch", "heads", "seq", "dim"),
            MemoryFormat.BSHD: ("batch", "seq", "heads", "dim"),
            MemoryFormat.PAGED: ("block", "slot", "heads", "dim"),
            MemoryFormat.HBSD: ("heads", "batch", "seq", "dim"),
        }
        return names[self]


class MemoryFormatConverter:
    """
    Converts K or V tensors between the dense memory formats.

    All conversions go through BHSD as the canonical format:

        BSHD ──┐                 ┌──> BSHD
               ├──>   BHSD   ────┤
        HBSD ──┘                 └──> HBSD

    Both permutations are their own inverse, so one table serves both ways.
    PAGED is not a pure permutation (it needs a block table), therefore it is
    not handled here. See PagedKVCache.
    """

    _PERMUTATION: Dict[MemoryFormat, Tuple[int, int, int, int]] = {
        MemoryFormat.BHSD: (0, 1, 2, 3),
        MemoryFormat.BSHD: (0, 2, 1, 3),
        MemoryFormat.HBSD: (1, 0, 2, 3),
    }

    @classmethod
    def convert(cls, tensor: Array, source: MemoryFormat, target: MemoryFormat) -> Array:
        """
        Convert a 4D tensor from one dense memory format into another.

        Args:
            tensor: 4D array in the source format.
            source: Format of the input.
            target: Format of the output.

        Returns:
            Contiguous array in the target format.

        Raises:
            ValueError: If one of the formats is PAGED or the rank is not 4.
        """
        if tensor.ndim != 4:
            raise ValueError(f"Expected a 4D tensor, got {tensor.ndim}D")
        if MemoryFormat.PAGED in (source, target):
            raise ValueError("PAGED needs a block table, use PagedKVCache instead")
        if source is target:
            return np.ascontiguousarray(tensor)

        canonical: Array = np.transpose(tensor, cls._PERMUTATION[source])
        converted: Array = np.transpose(canonical, cls._PERMUTATION[target])
        return np.ascontiguousarray(converted)


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 2: CONFIGURATION
# ══════════════════════════════════════════════════════════════════════════════


@dataclass
class KVCacheConfig:
    """
    Configuration shared by all components of the KV-cache system.

    Attributes:
        num_layers: Number of Transformer layers (L).
        num_heads: Number of attention heads (H).
        head_dim: Dimension per head (D).
        max_batch_size: Maximum number of concurrent sequences (B).
        max_seq_len: Maximum positions per sequence (S).
        block_size: Tokens per block for the paged cache.
        num_blocks: Number of physical blocks for the paged cache.
        memory_format: Memory format used for attention computation.
        dtype: Element type of the cache.
    """

    num_layers: int = 4
    num_heads: int = 8
    head_dim: int = 32
    max_batch_size: int = 4
    max_seq_len: int = 256
    block_size: int = 16
    num_blocks: int = 256
    memory_format: MemoryFormat = MemoryFormat.BHSD
    dtype: Any = np.float32

    def __post_init__(self) -> None:
        for name in ("num_layers", "num_heads", "head_dim", "max_batch_size"):
            assert getattr(self, name) > 0, f"{name} must be positive"
        for name in ("max_seq_len", "block_size", "num_blocks"):
            assert getattr(self, name) > 0, f"{name} must be positive"

    @property
    def embed_dim(self) -> int:
        """Model dimension E = H * D."""
        return self.num_heads * self.head_dim

    @property
    def bytes_per_element(self) -> int:
        """Size of one cache element in bytes."""
        return int(np.dtype(self.dtype).itemsize)

    @property
    def bytes_per_token(self) -> int:
        """Bytes of K and V of one token over all layers."""
        return (
            2
            * self.num_layers
            * self.num_heads
            * self.head_dim
            * self.bytes_per_element
        )

    def describe(self) -> str:
        """One-line description for log output."""
        return (
            f"L={self.num_layers} H={self.num_heads} D={self.head_dim} "
            f"B={self.max_batch_size} S={self.max_seq_len} "
            f"format={self.memory_format.name} dtype={np.dtype(self.dtype).name}"
        )


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 3: FLAT KV-CACHE
# ══════════════════════════════════════════════════════════════════════════════
#
# ONE tensor holds the keys and the values of ALL layers:
#
#     [num_layers, max_batch, max_seq_len, 2, num_heads, head_dim]
#
#     layer 0
#     ├── batch 0
#     │   ├── position 0
#     │   │   ├── [0] K: head 0 │ head 1 │ ... │ head H-1
#     │   │   └── [1] V: head 0 │ head 1 │ ... │ head H-1
#     │   ├── position 1
#     │   │   ├── [0] K
#     │   │   └── [1] V
#     │   └── ...
#     └── batch 1 ...
#
# RATIONALE
#
#     - K and V of one token are adjacent: one append writes 2 * H * D
#       contiguous elements.
#     - One allocation for the entire model, no fragmentation.
#     - Offsets are simple arithmetic:
#
#         offset(l, b, s, kv, h, d) =
#             ((((l * B + b) * S + s) * 2 + kv) * H + h) * D + d
#
# COMPLEXITY
#
#     ┌──────────────────┬────────────────────┬─────────────────────────────┐
#     │ Operation        │ Time               │ Memory                      │
#     ├──────────────────┼────────────────────┼─────────────────────────────┤
#     │ allocate         │ O(L*B*S*H*D)       │ 2*L*B*S*H*D elements        │
#     │ write (1 token)  │ O(H*D)             │ O(1)                        │
#     │ read (sequence)  │ O(1) view          │ O(S*H*D) after transpose    │
#     │ reset (sequence) │ O(1)               │ O(1)                        │
#     └──────────────────┴────────────────────┴─────────────────────────────┘
#
# ──────────────────────────────────────────────────────────────────────────────


class FlatKVCache:
    """
    Pre-allocated flat KV-cache for all layers.

    Shape: [num_layers, max_batch, max_seq_len, 2, num_heads, head_dim]

    Index 0 of the axis of size 2 is the key, index 1 is the value.
    """

    KEY_INDEX: int = 0
    VALUE_INDEX: int = 1

    def __init__(
        self,
        num_layers: int,
        max_batch: int,
        max_seq_len: int,
        num_heads: int,
        head_dim: int,
        dtype: Any = np.float32,
    ) -> None:
        """
        Allocate the cache (see the layout above) and the length counters.
        """
        assert num_layers > 0, "num_layers must be positive"
        assert max_batch > 0, "max_batch must be positive"
        assert max_seq_len > 0, "max_seq_len must be positive"

        self.num_layers: int = num_layers
        self.max_batch: int = max_batch
        self.max_seq_len: int = max_seq_len
        self.num_heads: int = num_heads
        self.head_dim: int = head_dim
        self.dtype: Any = dtype

        self.cache: Array = np.zeros(
            (num_layers, max_batch, max_seq_len, 2, num_heads, head_dim),
            dtype=dtype,
        )
        # Number of valid positions per layer and sequence. The layers are
        # filled one after the other within a step, hence one length each.
        self.seq_lens: Array = np.zeros((num_layers, max_batch), dtype=np.int64)

    @classmethod
    def from_config(cls, config: KVCacheConfig) -> "FlatKVCache":
        """Create a cache from a configuration."""
        return cls(
            num_layers=config.num_layers,
            max_batch=config.max_batch_size,
            max_seq_len=config.max_seq_len,
            num_heads=config.num_heads,
            head_dim=config.head_dim,
            dtype=config.dtype,
        )

    # ── Index checks ──────────────────────────────────────────────────────────

    def _check_layer(self, layer_idx: int) -> None:
        if not 0 <= layer_idx < self.num_layers:
            raise IndexError(f"layer_idx {layer_idx} out of range 0..{self.num_layers - 1}")

    def _check_batch(self, batch_idx: int) -> None:
        if not 0 <= batch_idx < self.max_batch:
            raise IndexError(f"batch_idx {batch_idx} out of range 0..{self.max_batch - 1}")

    def _check_range(self, start: int, count: int) -> None:
        if start < 0 or start + count > self.max_seq_len:
            raise IndexError(
                f"positions {start}..{start + count - 1} exceed the capacity "
                f"of {self.max_seq_len}"
            )

    # ── Writing ───────────────────────────────────────────────────────────────

    def write(
        self,
        layer_idx: int,
        batch_idx: int,
        position: int,
        key: Array,
        value: Array,
    ) -> None:
        """
        Write K and V of ONE token of ONE sequence.

        Args:
            layer_idx: Layer index.
            batch_idx: Sequence index.
            position: Position within the sequence.
            key: [num_heads, head_dim]
            value: [num_heads, head_dim]
        """
        self._check_layer(layer_idx)
        self._check_batch(batch_idx)
        self._check_range(position, 1)
        assert key.shape == (self.num_heads, self.head_dim), (
            f"key must be [{self.num_heads}, {self.head_dim}], got {key.shape}"
        )
        assert value.shape == key.shape, "key and value must have the same shape"

        self.cache[layer_idx, batch_idx, position, self.KEY_INDEX] = key
        self.cache[layer_idx, batch_idx, position, self.VALUE_INDEX] = value
        self.seq_lens[layer_idx, batch_idx] = max(
            int(self.seq_lens[layer_idx, batch_idx]), position + 1
        )

    def write_sequence(
        self,
        layer_idx: int,
        batch_idx: int,
        start: int,
        keys: Array,
        values: Array,
    ) -> None:
        """
        Write K and V of SEVERAL consecutive tokens (prefill).

        Args:
            layer_idx: Layer index.
            batch_idx: Sequence index.
            start: First position.
            keys: [num_heads, n, head_dim]
            values: [num_heads, n, head_dim]
        """
        self._check_layer(layer_idx)
        self._check_batch(batch_idx)
        assert keys.ndim == 3, f"keys must be 3D, got {keys.ndim}D"
        assert keys.shape == values.shape, "keys and values must have the same shape"
        count: int = keys.shape[1]
        self._check_range(start, count)

        # [H, n, D] -> [n, H, D], the order of the flat cache
        end: int = start + count
        self.cache[layer_idx, batch_idx, start:end, self.KEY_INDEX] = np.transpose(
            keys, (1, 0, 2)
        )
        self.cache[layer_idx, batch_idx, start:end, self.VALUE_INDEX] = np.transpose(
            values, (1, 0, 2)
        )
        self.seq_lens[layer_idx, batch_idx] = max(
            int(self.seq_lens[layer_idx, batch_idx]), end
        )

    # ── Reading ───────────────────────────────────────────────────────────────

    def read(
        self,
        layer_idx: int,
        batch_idx: int,
        seq_len: Optional[int] = None,
    ) -> KVPair:
        """
        Read K and V of one sequence in head-major order.

        Args:
            layer_idx: Layer index.
            batch_idx: Sequence index.
            seq_len: Number of positions to read, None = all valid ones.

        Returns:
            (keys, values), both [num_heads, seq_len, head_dim]
        """
        self._check_layer(layer_idx)
        self._check_batch(batch_idx)
        if seq_len is None:
            seq_len = int(self.seq_lens[layer_idx, batch_idx])
        self._check_range(0, seq_len)

        block: Array = self.cache[layer_idx, batch_idx, :seq_len]
        keys: Array = np.transpose(block[:, self.KEY_INDEX], (1, 0, 2))
        values: Array = np.transpose(block[:, self.VALUE_INDEX], (1, 0, 2))
        return keys, values

    def read_batch(self, layer_idx: int, batch_size: int, seq_len: int) -> KVPair:
        """
        Read K and V of the first `batch_size` sequences of a layer.

        Returns:
            (keys, values), both [batch_size, num_heads, seq_len, head_dim]
        """
        self._check_layer(layer_idx)
        self._check_range(0, seq_len)
        block: Array = self.cache[layer_idx, :batch_size, :seq_len]
        keys: Array = np.transpose(block[:, :, self.KEY_INDEX], (0, 2, 1, 3))
        values: Array = np.transpose(block[:, :, self.VALUE_INDEX], (0, 2, 1, 3))
        return keys, values

    # ── Management ────────────────────────────────────────────────────────────

    def get_seq_len(self, batch_idx: int, layer_idx: int = 0) -> int:
        """Number of cached positions of a sequence."""
        self._check_batch(batch_idx)
        return int(self.seq_lens[layer_idx, batch_idx])

    def reset(self, batch_idx: Optional[int] = None) -> None:
        """Reset one sequence, or the whole cache if batch_idx is None."""
        if batch_idx is None:
            self.seq_lens[:] = 0
        else:
            self._check_batch(batch_idx)
            self.seq_lens[:, batch_idx] = 0

    @property
    def memory_bytes(self) -> int:
        """Allocated bytes."""
        return int(self.cache.nbytes)

    @property
    def used_bytes(self) -> int:
        """Bytes that hold valid tokens."""
        per_position: int = 2 * self.num_heads * self.head_dim * self.cache.itemsize
        return int(self.seq_lens.sum()) * per_position

    @property
    def utilization(self) -> float:
        """Fraction of the allocation that holds valid tokens."""
        return self.used_bytes / self.memory_bytes

    def __repr__(self) -> str:
        return (
            f"FlatKVCache(shape={self.cache.shape}, dtype={np.dtype(self.dtype).name}, "
            f"utilization={self.utilization:.1%})"
        )


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 4: PAGED KV-CACHE
# ══════════════════════════════════════════════════════════════════════════════
#
# The flat cache reserves max_seq_len positions for every sequence, no matter
# how short it is:
#
#     Sequence A (12 tokens)   ████████████░░░░░░░░░░░░░░░░░░░░░░░░░░  of 40
#     Sequence B (31 tokens)   ███████████████████████████████░░░░░░░  of 40
#     Sequence C ( 5 tokens)   █████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  of 40
#
#                              █ used   ░ reserved, wasted
#
# The paged cache (vLLM, PagedAttention) borrows the idea of virtual memory:
#
#     LOGICAL VIEW                 BLOCK TABLE             PHYSICAL BLOCKS
#     ┌─────────────────┐                                  ┌──────────────┐
#     │ A: tokens 0-3   │ ──────>  A[0] ─────────────────> │ block 0      │
#     │ A: tokens 4-7   │ ──────>  A[1] ───────┐           ├──────────────┤
#     │ A: tokens 8-11  │ ──────>  A[2] ─────┐ │  ┌──────> │ block 1      │
#     └─────────────────┘                    │ │  │        ├──────────────┤
#     ┌─────────────────┐                    │ └──┼──────> │ block 2      │
#     │ C: tokens 0-3   │ ──────>  C[0] ─────┼────┘        ├──────────────┤
#     │ C: token  4     │ ──────>  C[1] ─────┼───┐         │ block 3      │
#     └─────────────────┘                    │   └───────> │              │
#                                            │             ├──────────────┤
#                                            └───────────> │ block 4      │
#                                                          └──────────────┘
#
# Internal fragmentation is limited to the last block of each sequence, i.e.
# block_size / 2 positions on average.
#
# COMPLEXITY
#
#     ┌───────────────────────┬──────────────────┬─────────────────────────┐
#     │ Operation             │ Time             │ Note                    │
#     ├───────────────────────┼──────────────────┼─────────────────────────┤
#     │ allocate block        │ O(1)             │ pop from the free list  │
#     │ append token          │ O(H*D)           │ at most one allocation  │
#     │ gather sequence       │ O(S*H*D)         │ copies block by block   │
#     │ free sequence         │ O(S/block_size)  │ push to the free list   │
#     └───────────────────────┴──────────────────┴─────────────────────────┘
#
# ──────────────────────────────────────────────────────────────────────────────


@dataclass
class KVCacheBlock:
    """
    One physical block of the paged cache.

    Attributes:
        block_id: Physical index of the block.
        keys: [block_size, num_heads, head_dim]
        values: [block_size, num_heads, head_dim]
        layer_idx: Layer that owns the block, -1 = not assigned.
        num_filled: Number of valid slots.
        ref_count: Number of sequences that reference the block.
    """

    block_id: int
    keys: Array
    values: Array
    layer_idx: int = -1
    num_filled: int = 0
    ref_count: int = 0

    @property
    def block_size(self) -> int:
        """Number of slots."""
        return int(self.keys.shape[0])

    @property
    def is_full(self) -> bool:
        """Whether no slot is left."""
        return self.num_filled >= self.block_size

    @property
    def is_free(self) -> bool:
        """Whether no sequence references the block."""
        return self.ref_count == 0

    def append(self, key: Array, value: Array) -> int:
        """
        Append K and V of one token.

        Args:
            key: [num_heads, head_dim]
            value: [num_heads, head_dim]

        Returns:
            The slot that was written.
        """
        assert not self.is_full, f"block {self.block_id} is full"
        slot: int = self.num_filled
        self.keys[slot] = key
        self.values[slot] = value
        self.num_filled += 1
        return slot

    def clear(self) -> None:
        """Make the block available again."""
        self.layer_idx = -1
        self.num_filled = 0
        self.ref_count = 0


class BlockAllocator:
    """
    Allocator with a free list over a fixed number of physical blocks.

    Blocks are created up front, the layer index is filled in later.
    """

    def __init__(
        self,
        num_blocks: int,
        block_size: int,
        num_heads: int,
        head_dim: int,
        dtype: Any = np.float32,
    ) -> None:
        assert num_blocks > 0, "num_blocks must be positive"
        assert block_size > 0, "block_size must be positive"

        self.num_blocks: int = num_blocks
        self.block_size: int = block_size
        self.blocks: List[KVCacheBlock] = []
        for block_id in range(num_blocks):
            block = KVCacheBlock(
                block_id=block_id,
                keys=np.zeros((block_size, num_heads, head_dim), dtype=dtype),
                values=np.zeros((block_size, num_heads, head_dim), dtype=dtype),
                layer_idx=-1,
            )
            self.blocks.append(block)

        self._free: List[int] = list(range(num_blocks - 1, -1, -1))
        self._allocated: Set[int] = set()

    def allocate(self) -> KVCacheBlock:
        """
        Take a block from the free list.

        Raises:
            MemoryError: If no block is free.
        """
        if not self._free:
            raise MemoryError(f"Out of KV-cache blocks (all {self.num_blocks} in use)")
        block_id: int = self._free.pop()
        self._allocated.add(block_id)
        block: KVCacheBlock = self.blocks[block_id]
        block.ref_count = 1
        return block

    def free(self, block: KVCacheBlock) -> None:
        """
        Give a block back.

        Raises:
            ValueError: If the block is not allocated.
        """
        if block.block_id not in self._allocated:
            raise ValueError(f"block {block.block_id} is not allocated")
        block.ref_count -= 1
        if block.is_free:
            block.clear()
            self._allocated.remove(block.block_id)
            self._free.append(block.block_id)

    @property
    def num_free(self) -> int:
        """Number of free blocks."""
        return len(self._free)

    @property
    def num_allocated(self) -> int:
        """Number of allocated blocks."""
        return len(self._allocated)


class PagedKVCache:
    """
    Paged KV-cache with a block allocator.

    Every (sequence, layer) pair has its own block table over one shared pool.
    """

    def __init__(
        self,
        num_layers: int,
        num_blocks: int,
        block_size: int,
        num_heads: int,
        head_dim: int,
        dtype: Any = np.float32,
    ) -> None:
        self.num_layers: int = num_layers
        self.block_size: int = block_size
        self.num_heads: int = num_heads
        self.head_dim: int = head_dim
        self.dtype: Any = dtype

        self.allocator: BlockAllocator = BlockAllocator(
            num_blocks, block_size, num_heads, head_dim, dtype
        )
        # seq_id -> layer_idx -> blocks in logical order
        self.block_tables: Dict[int, Dict[int, List[KVCacheBlock]]] = {}

    @classmethod
    def from_config(cls, config: KVCacheConfig) -> "PagedKVCache":
        """Create a cache from a configuration."""
        return cls(
            num_layers=config.num_layers,
            num_blocks=config.num_blocks,
            block_size=config.block_size,
            num_heads=config.num_heads,
            head_dim=config.head_dim,
            dtype=config.dtype,
        )

    # ── Sequences ─────────────────────────────────────────────────────────────

    def add_sequence(self, seq_id: int) -> None:
        """Register a sequence. Blocks are allocated on the first append."""
        if seq_id in self.block_tables:
            raise ValueError(f"sequence {seq_id} already exists")
        self.block_tables[seq_id] = {layer: [] for layer in range(self.num_layers)}

    def free_sequence(self, seq_id: int) -> int:
        """
        Free all blocks of a sequence.

        Returns:
            Number of blocks that were given back.
        """
        if seq_id not in self.block_tables:
            raise KeyError(f"unknown sequence {seq_id}")
        count: int = 0
        for blocks in self.block_tables.pop(seq_id).values():
            for block in blocks:
                self.allocator.free(block)
                count += 1
        return count

    def get_seq_len(self, seq_id: int, layer_idx: int = 0) -> int:
        """Number of cached tokens of a sequence."""
        return sum(block.num_filled for block in self._table(seq_id, layer_idx))

    def _table(self, seq_id: int, layer_idx: int) -> List[KVCacheBlock]:
        if seq_id not in self.block_tables:
            raise KeyError(f"unknown sequence {seq_id}")
        if not 0 <= layer_idx < self.num_layers:
            raise IndexError(f"layer_idx {layer_idx} out of range")
        return self.block_tables[seq_id][layer_idx]

    # ── Tokens ────────────────────────────────────────────────────────────────

    def append(self, seq_id: int, layer_idx: int, key: Array, value: Array) -> Tuple[int, int]:
        """
        Append K and V of one token.

        Args:
            seq_id: Sequence id.
            layer_idx: Layer index.
            key: [num_heads, head_dim]
            value: [num_heads, head_dim]

        Returns:
            (block_id, slot) of the token.
        """
        assert key.shape == (self.num_heads, self.head_dim), (
            f"key must be [{self.num_heads}, {self.head_dim}], got {key.shape}"
        )
        assert value.shape == key.shape, "key and value must have the same shape"

        table: List[KVCacheBlock] = self._table(seq_id, layer_idx)
        if not table or table[-1].is_full:
            block: KVCacheBlock = self.allocator.allocate()
            # The allocator does not know the layer, set it now.
            block.layer_idx = layer_idx
            table.append(block)

        slot: int = table[-1].append(key, value)
        return table[-1].block_id, slot

    def append_many(self, seq_id: int, layer_idx: int, keys: Array, values: Array) -> None:
        """
        Append several tokens (prefill).

        Args:
            keys: [num_heads, n, head_dim]
            values: [num_heads, n, head_dim]
        """
        assert keys.shape == values.shape, "keys and values must have the same shape"
        for i in range(keys.shape[1]):
            self.append(seq_id, layer_idx, keys[:, i], values[:, i])

    def gather(self, seq_id: int, layer_idx: int) -> KVPair:
        """
        Gather the tokens of a sequence into contiguous tensors.

        Returns:
            (keys, values), both [num_heads, seq_len, head_dim]
        """
        table: List[KVCacheBlock] = self._table(seq_id, layer_idx)
        seq_len: int = self.get_seq_len(seq_id, layer_idx)
        keys: Array = np.empty((seq_len, self.num_heads, self.head_dim), dtype=self.dtype)
        values: Array = np.empty_like(keys)

        position: int = 0
        for block in table:
            n: int = block.num_filled
            keys[position:position + n] = block.keys[:n]
            values[position:position + n] = block.values[:n]
            position += n

        return np.transpose(keys, (1, 0, 2)), np.transpose(values, (1, 0, 2))

    # ── Statistics ────────────────────────────────────────────────────────────

    def statistics(self) -> Dict[str, Union[int, float]]:
        """Usage of the block pool."""
        filled: int = 0
        for layers in self.block_tables.values():
            for blocks in layers.values():
                filled += sum(block.num_filled for block in blocks)
        slots: int = self.allocator.num_allocated * self.block_size
        return {
            "num_sequences": len(self.block_tables),
            "blocks_allocated": self.allocator.num_allocated,
            "blocks_free": self.allocator.num_free,
            "slots_filled": filled,
            "utilization": filled / slots if slots else 0.0,
            "internal_fragmentation": 1.0 - filled / slots if slots else 0.0,
        }


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 5: NUMERICAL PRIMITIVES
# ══════════════════════════════════════════════════════════════════════════════


def stable_softmax(x: Array, axis: int = -1) -> Array:
    """
    Numerically stable softmax.

    Subtracting the maximum does not change the result, but keeps the argument
    of exp() at or below zero:

        softmax(x)_i = exp(x_i - max(x)) / sum_j exp(x_j - max(x))
    """
    shifted: Array = x - np.max(x, axis=axis, keepdims=True)
    exponentials: Array = np.exp(shifted)
    return exponentials / np.sum(exponentials, axis=axis, keepdims=True)


def gelu(x: Array) -> Array:
    """GELU activation (tanh approximation)."""
    inner: Array = math.sqrt(2.0 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1.0 + np.tanh(inner))


def sinusoidal_positions(start: int, count: int, dim: int, dtype: Any = np.float32) -> Array:
    """
    Sinusoidal position encodings for positions start .. start + count - 1.

    Returns:
        [count, dim]
    """
    positions: Array = np.arange(start, start + count, dtype=np.float64)[:, None]
    frequencies: Array = np.exp(
        -math.log(10000.0) * np.arange(0, dim, 2, dtype=np.float64) / dim
    )[None, :]
    encoding: Array = np.zeros((count, dim), dtype=np.float64)
    encoding[:, 0::2] = np.sin(positions * frequencies)
    encoding[:, 1::2] = np.cos(positions * frequencies)[:, : dim // 2]
    return encoding.astype(dtype)


class LayerNorm:
    """Layer normalization over the last axis."""

    def __init__(self, dim: int, eps: float = 1e-5, dtype: Any = np.float32) -> None:
        self.gamma: Array = np.ones(dim, dtype=dtype)
        self.beta: Array = np.zeros(dim, dtype=dtype)
        self.eps: float = eps

    def forward(self, x: Array) -> Array:
        """Normalize x: [..., dim]."""
        mean: Array = np.mean(x, axis=-1, keepdims=True)
        variance: Array = np.var(x, axis=-1, keepdims=True)
        return self.gamma * (x - mean) / np.sqrt(variance + self.eps) + self.beta


class FeedForward:
    """Position-wise feed-forward network: Linear -> GELU -> Linear."""

    def __init__(
        self,
        embed_dim: int,
        hidden_dim: int,
        rng: np.random.Generator,
        dtype: Any = np.float32,
    ) -> None:
        self.W1: Array = (rng.standard_normal((embed_dim, hidden_dim)) / math.sqrt(embed_dim)).astype(dtype)
        self.b1: Array = np.zeros(hidden_dim, dtype=dtype)
        self.W2: Array = (rng.standard_normal((hidden_dim, embed_dim)) / math.sqrt(hidden_dim)).astype(dtype)
        self.b2: Array = np.zeros(embed_dim, dtype=dtype)

    def forward(self, x: Array) -> Array:
        """x: [..., embed_dim] -> [..., embed_dim]"""
        hidden: Array = gelu(np.matmul(x, self.W1) + self.b1)
        return np.matmul(hidden, self.W2) + self.b2


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 6: MULTI-HEAD ATTENTION WITH KV-CACHE
# ══════════════════════════════════════════════════════════════════════════════
#
# DATA FLOW OF ONE DECODE STEP
#
#       x [B, 1, E]
#         │
#         ├──> x @ W_q ──> [B, 1, E] ──> [B, 1, H, D] ──> [B, H, 1, D]  = Q
#         ├──> x @ W_k ──> [B, 1, E] ──> [B, 1, H, D] ──> [B, H, 1, D]  = k_new
#         └──> x @ W_v ──> [B, 1, E] ──> [B, 1, H, D] ──> [B, H, 1, D]  = v_new
#
#       K = concat(k_cache, k_new)  [B, H, S + 1, D]
#       V = concat(v_cache, v_new)  [B, H, S + 1, D]
#
#       scores = Q K^T / sqrt(D)    [B, H, 1, S + 1]
#       output = softmax(scores) V  [B, H, 1, D] ──> [B, 1, E] ──> @ W_o
#
# FLOPs OF ONE DECODE STEP (per sequence and layer)
#
#     ┌────────────────────────┬──────────────────────┬───────────────────────┐
#     │ Operation              │ FLOPs                │ E=4096, S=2048        │
#     ├────────────────────────┼──────────────────────┼───────────────────────┤
#     │ Q, K, V projections    │ 3 * 2 * E^2          │ 100.7 M               │
#     │ Q K^T                  │ 2 * S * E            │  16.8 M               │
#     │ softmax                │ ~5 * S * H           │   0.3 M               │
#     │ P V                    │ 2 * S * E            │  16.8 M               │
#     │ output projection      │ 2 * E^2              │  33.6 M               │
#     └────────────────────────┴──────────────────────┴───────────────────────┘
#
# ──────────────────────────────────────────────────────────────────────────────


class MultiHeadAttention:
    """
    Multi-head self-attention with an optional KV-cache.

    The cache is passed as a dictionary

        {layer_idx: (k_cache, v_cache)}

    with k_cache and v_cache in BHSD format: [B, H, S_past, D].
    """

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        layer_idx: int = 0,
        seed: Optional[int] = None,
        dtype: Any = np.float32,
    ) -> None:
        """
        Initialize the projection weights.

        Args:
            embed_dim: Model dimension E.
            num_heads: Number of heads H. Must divide E.
            layer_idx: Index of the layer, the key of the cache dictionary.
            seed: Seed of the random weights.
            dtype: Element type of the weights.
        """
        assert embed_dim % num_heads == 0, (
            f"embed_dim {embed_dim} must be divisible by num_heads {num_heads}"
        )
        self.embed_dim: int = embed_dim
        self.num_heads: int = num_heads
        self.head_dim: int = embed_dim // num_heads
        self.layer_idx: int = layer_idx
        self.scale: float = 1.0 / math.sqrt(self.head_dim)
        self.dtype: Any = dtype

        rng: np.random.Generator = np.random.default_rng(seed)
        std: float = 1.0 / math.sqrt(embed_dim)
        self.W_q: Array = (rng.standard_normal((embed_dim, embed_dim)) * std).astype(dtype)
        self.W_k: Array = (rng.standard_normal((embed_dim, embed_dim)) * std).astype(dtype)
        self.W_v: Array = (rng.standard_normal((embed_dim, embed_dim)) * std).astype(dtype)
        self.W_o: Array = (rng.standard_normal((embed_dim, embed_dim)) * std).astype(dtype)

    # ── Helpers ───────────────────────────────────────────────────────────────

    def _project(self, x: Array, W: Array) -> Array:
        """
        Project the input and split it into heads.

        Args:
            x: [B, S, E]
            W: [E, E]

        Returns:
            [B, H, S, D]
        """
        batch_size, seq_len, _ = x.shape
        # Step 1: linear projection
        projected: Array = np.matmul(x, W)
        # Step 2: split the embedding dimension into heads
        reshaped: Array = projected.reshape(
            batch_size, seq_len, self.num_heads, self.head_dim
        )
        # Step 3: BSHD -> BHSD
        transposed: Array = np.transpose(reshaped, (0, 2, 1, 3))
        return transposed

    def _merge_heads(self, x: Array) -> Array:
        """[B, H, S, D] -> [B, S, E]"""
        batch_size, _, seq_len, _ = x.shape
        return np.transpose(x, (0, 2, 1, 3)).reshape(batch_size, seq_len, self.embed_dim)

    def _create_causal_mask(self, seq_len: int, total_len: int) -> Array:
        """
        Create the causal mask.

        Entry (i, j) is True if query i may attend to key j. The diagonal is
        shifted by k = 1 - seq_len, as the queries are the last seq_len
        positions of the sequence:

            decode  (seq_len = 1): k = 0, the single query sees the cache
            prefill (seq_len = S): k = 1 - S

        Args:
            seq_len: Number of queries.
            total_len: Number of keys (cached + new).

        Returns:
            [1, 1, seq_len, total_len] boolean mask
        """
        mask: Array = np.triu(np.ones((seq_len, total_len)), k=1 - seq_len)
        return mask.astype(bool)[None, None, :, :]

    # ── Forward ───────────────────────────────────────────────────────────────

    def forward(
        self,
        x: Array,
        kv_cache: Optional[LayerKVDict] = None,
        use_causal_mask: bool = True,
    ) -> Tuple[Array, KVPair]:
        """
        Forward pass.

        Args:
            x: [B, S_new, E] hidden states of the new tokens.
            kv_cache: {layer_idx: (k_cache, v_cache)}, None for the prefill.
            use_causal_mask: Whether to apply the causal mask.

        Returns:
            output: [B, S_new, E]
            (keys, values): K and V of past and new tokens, [B, H, S_total, D]
        """
        assert x.ndim == 3, f"x must be [B, S, E], got {x.ndim}D"
        assert x.shape[2] == self.embed_dim, (
            f"last dimension must be {self.embed_dim}, got {x.shape[2]}"
        )
        seq_len: int = x.shape[1]

        query: Array = self._project(x, self.W_q)
        key: Array = self._project(x, self.W_k)
        value: Array = self._project(x, self.W_v)

        if kv_cache is not None and self.layer_idx in kv_cache:
            k_cache, v_cache = kv_cache[self.layer_idx]
            assert k_cache.shape[0] == x.shape[0], "batch size of the cache differs"
            key = np.concatenate([k_cache, key], axis=2)
            value = np.concatenate([v_cache, value], axis=2)
        total_len: int = key.shape[2]

        scores: Array = np.matmul(query, np.transpose(key, (0, 1, 3, 2))) * self.scale
        if use_causal_mask:
            mask: Array = self._create_causal_mask(seq_len, total_len)
            scores = np.where(mask, scores, np.asarray(-1e9, dtype=scores.dtype))

        weights: Array = stable_softmax(scores, axis=-1)
        context: Array = np.matmul(weights, value)
        output: Array = np.matmul(self._merge_heads(context), self.W_o)
        return output, (key, value)


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 7: TRANSFORMER INTEGRATION
# ══════════════════════════════════════════════════════════════════════════════
#
#     x ──┬──> LayerNorm ──> MultiHeadAttention ──> (+) ──┬──> ...
#         │                          │               ^    │
#         │                       KV-cache           │    │
#         └──────────────────────────────────────────┘    │
#                                                         │
#     ... <───────────────────────────────────────────────┘
#      ├──> LayerNorm ──> FeedForward ──> (+) ──> out
#      └─────────────────────────────────────^
#
# ──────────────────────────────────────────────────────────────────────────────


class TransformerBlock:
    """Pre-norm Transformer decoder block."""

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        layer_idx: int,
        ffn_multiplier: int = 4,
        seed: int = 0,
        dtype: Any = np.float32,
    ) -> None:
        rng: np.random.Generator = np.random.default_rng(seed + 1000)
        self.layer_idx: int = layer_idx
        self.norm1: LayerNorm = LayerNorm(embed_dim, dtype=dtype)
        self.attention: MultiHeadAttention = MultiHeadAttention(
            embed_dim, num_heads, layer_idx=layer_idx, seed=seed, dtype=dtype
        )
        self.norm2: LayerNorm = LayerNorm(embed_dim, dtype=dtype)
        self.ffn: FeedForward = FeedForward(
            embed_dim, ffn_multiplier * embed_dim, rng, dtype=dtype
        )

    def forward(
        self,
        x: Array,
        kv_cache: Optional[Dict[Any, Any]] = None,
    ) -> Tuple[Array, KVPair]:
        """
        Forward pass of the block.

        Args:
            x: [B, S_new, E]
            kv_cache: Cache of this layer, handed on to the attention.

        Returns:
            output: [B, S_new, E]
            (keys, values): K and V of the attention.
        """
        attention_out, kv_pair = self.attention.forward(self.norm1.forward(x), kv_cache)
        x = x + attention_out
        x = x + self.ffn.forward(self.norm2.forward(x))
        return x, kv_pair


class TransformerBlockStack:
    """
    Stack of Transformer blocks that owns the KV-cache of all layers.

    self.kv_cache[layer_idx] is the (K, V) tuple of a layer, both in BHSD.
    """

    def __init__(
        self,
        num_layers: int,
        embed_dim: int,
        num_heads: int,
        ffn_multiplier: int = 4,
        seed: int = 0,
        dtype: Any = np.float32,
    ) -> None:
        self.num_layers: int = num_layers
        self.embed_dim: int = embed_dim
        self.num_heads: int = num_heads
        self.blocks: List[TransformerBlock] = [
            TransformerBlock(
                embed_dim,
                num_heads,
                layer_idx=layer_idx,
                ffn_multiplier=ffn_multiplier,
                seed=seed + layer_idx,
                dtype=dtype,
            )
            for layer_idx in range(num_layers)
        ]
        self.final_norm: LayerNorm = LayerNorm(embed_dim, dtype=dtype)
        self.kv_cache: Dict[int, KVPair] = {}

    def reset_cache(self) -> None:
        """Forget all cached keys and values."""
        self.kv_cache = {}

    def forward(self, x: Array, use_cache: bool = True) -> Array:
        """
        Forward pass through all blocks.

        Args:
            x: [B, S_new, E] hidden states (prompt or one token).
            use_cache: Whether to read and update the cache.

        Returns:
            [B, S_new, E]
        """
        for layer_idx, block in enumerate(self.blocks):
            layer_cache: Optional[Dict[str, Array]] = None
            if use_cache and layer_idx in self.kv_cache:
                k_cache, v_cache = self.kv_cache[layer_idx]
                layer_cache = {"k": k_cache, "v": v_cache}

            x, (keys, values) = block.forward(x, layer_cache)

            if use_cache:
                self.kv_cache[layer_idx] = (keys, values)

        return self.final_norm.forward(x)

    def cache_memory_bytes(self) -> int:
        """Bytes of all cached keys and values."""
        return sum(k.nbytes + v.nbytes for k, v in self.kv_cache.values())


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 8: BATCHED INFERENCE WITH VARIABLE-LENGTH SEQUENCES
# ══════════════════════════════════════════════════════════════════════════════
#
#     step        0    1    2    3    4    5    6
#     seq 0     [ P ][ d ][ d ][ d ][EOS]  ·    ·
#     seq 1     [ P ][ d ][EOS]  ·    ·    ·    ·
#     seq 2     [ P ][ d ][ d ][ d ][ d ][ d ][EOS]
#
#     P = prefill, d = decode, · = finished
#
# The prompts are padded to the longest one, all sequences advance together,
# and a sequence that has emitted EOS returns zeros from then on.
#
# ──────────────────────────────────────────────────────────────────────────────


@dataclass
class SequenceState:
    """
    State of one sequence in the engine.

    Attributes:
        seq_id: Index in the batch.
        prompt_len: Number of prompt tokens.
        generated: Generated tokens.
        is_finished: Whether EOS or the length limit was reached.
    """

    seq_id: int
    prompt_len: int
    generated: List[int] = field(default_factory=list)
    is_finished: bool = False

    @property
    def total_len(self) -> int:
        """Prompt and generated tokens."""
        return self.prompt_len + len(self.generated)


class BatchedInferenceEngine:
    """
    Manages a batch of sequences of different lengths.

    The hidden states go through the TransformerBlockStack. K and V are
    recorded in a FlatKVCache as well, to follow the memory per sequence.
    """

    def __init__(self, config: KVCacheConfig, seed: int = 0) -> None:
        self.config: KVCacheConfig = config
        self.stack: TransformerBlockStack = TransformerBlockStack(
            config.num_layers, config.embed_dim, config.num_heads, seed=seed, dtype=config.dtype
        )
        self.flat_cache: FlatKVCache = FlatKVCache.from_config(config)
        self.sequences: List[SequenceState] = []

    def start_batch(self, hidden_states: Sequence[Array]) -> Array:
        """
        Prefill a batch of prompts.

        Args:
            hidden_states: One [prompt_len, E] array per sequence.

        Returns:
            [B, E] hidden state of the last prompt token of each sequence
        """
        batch_size: int = len(hidden_states)
        assert 0 < batch_size <= self.config.max_batch_size, "bad batch size"
        self.stack.reset_cache()
        self.flat_cache.reset()
        self.sequences = [
            SequenceState(seq_id=i, prompt_len=int(h.shape[0]))
            for i, h in enumerate(hidden_states)
        ]

        max_len: int = max(s.prompt_len for s in self.sequences)
        padded: Array = np.zeros(
            (batch_size, max_len, self.config.embed_dim), dtype=self.config.dtype
        )
        for i, h in enumerate(hidden_states):
            padded[i, : h.shape[0]] = h

        output: Array = self.stack.forward(padded)
        for layer_idx, (keys, values) in self.stack.kv_cache.items():
            for s in self.sequences:
                self.flat_cache.write_sequence(
                    layer_idx, s.seq_id, 0,
                    keys[s.seq_id, :, : s.prompt_len],
                    values[s.seq_id, :, : s.prompt_len],
                )
        return np.stack([output[s.seq_id, s.prompt_len - 1] for s in self.sequences])

    def step_inference(self, hidden_states: Array) -> Array:
        """
        One decode step for the whole batch.

        Args:
            hidden_states: [B, 1, E] hidden states of the newest tokens.

        Returns:
            [B, E] outputs, zeros for finished sequences
        """
        batch_size: int = len(self.sequences)
        assert hidden_states.shape == (batch_size, 1, self.config.embed_dim), (
            f"hidden_states must be [{batch_size}, 1, {self.config.embed_dim}], "
            f"got {hidden_states.shape}"
        )
        output: Array = self.stack.forward(hidden_states)

        results: List[Array] = []
        for s in self.sequences:
            if s.is_finished:
                # Finished sequences produce a dummy output
                results.append(np.zeros(self.config.embed_dim, dtype=output.dtype))
                continue
            position: int = self.flat_cache.get_seq_len(s.seq_id)
            for layer_idx, (keys, values) in self.stack.kv_cache.items():
                self.flat_cache.write(
                    layer_idx, s.seq_id, position,
                    keys[s.seq_id, :, -1], values[s.seq_id, :, -1],
                )
            results.append(output[s.seq_id, 0])
        return np.stack(results)

    def record_token(self, seq_id: int, token: int, eos_token: int) -> None:
        """Record a generated token and update the state of the sequence."""
        state: SequenceState = self.sequences[seq_id]
        if state.is_finished:
            return
        state.generated.append(token)
        if token == eos_token or state.total_len >= self.config.max_seq_len:
            state.is_finished = True

    @property
    def all_finished(self) -> bool:
        """Whether no active sequence is left."""
        return all(s.is_finished for s in self.sequences)


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 9: GENERATION
# ══════════════════════════════════════════════════════════════════════════════


class KVCacheAwareGenerator:
    """
    Token generator: embedding -> TransformerBlockStack -> output projection.
    """

    def __init__(self, config: KVCacheConfig, vocab_size: int, seed: int = 0) -> None:
        rng: np.random.Generator = np.random.default_rng(seed)
        self.config: KVCacheConfig = config
        self.vocab_size: int = vocab_size
        self.rng: np.random.Generator = np.random.default_rng(seed + 1)
        self.embedding: Array = rng.standard_normal(
            (vocab_size, config.embed_dim)
        ).astype(config.dtype)
        self.stack: TransformerBlockStack = TransformerBlockStack(
            config.num_layers, config.embed_dim, config.num_heads, seed=seed, dtype=config.dtype
        )
        self.current_len: int = 0

    def _embed(self, tokens: Array) -> Array:
        """tokens [B, S] -> hidden states [B, S, E], positions included."""
        positions: Array = sinusoidal_positions(
            self.current_len, tokens.shape[1], self.config.embed_dim, self.config.dtype
        )
        return self.embedding[tokens] + positions[None, :, :]

    def forward(self, tokens: Array) -> Array:
        """
        Run new tokens through the model.

        Args:
            tokens: [B, S_new]

        Returns:
            logits of the last token, [B, vocab_size]
        """
        hidden: Array = self.stack.forward(self._embed(tokens))
        self.current_len += int(tokens.shape[1])
        return np.matmul(hidden[:, -1], self.embedding.T)

    def _select(self, logits: Array, temperature: float) -> Array:
        """Select the next token of every sequence."""
        if temperature <= 0.0:
            return np.argmax(logits, axis=-1)
        probabilities: Array = stable_softmax(logits.astype(np.float64) / temperature)
        return np.array([self.rng.choice(self.vocab_size, p=p) for p in probabilities])

    def generate(
        self,
        prompt: Array,
        max_new_tokens: int,
        temperature: float = 0.0,
        eos_token: Optional[int] = None,
    ) -> Tuple[Array, Dict[str, float]]:
        """
        Generate tokens after a prompt.

        Args:
            prompt: [B, S] token ids.
            max_new_tokens: Number of tokens to generate.
            temperature: 0 = greedy.
            eos_token: Stop when all sequences have emitted it.

        Returns:
            tokens: [B, S + generated]
            timing: seconds of the prefill and of the decode steps
        """
        self.stack.reset_cache()
        self.current_len = 0
        tokens: Array = np.asarray(prompt)

        start: float = time.perf_counter()
        logits: Array = self.forward(tokens)
        prefill_seconds: float = time.perf_counter() - start

        finished: Array = np.zeros(tokens.shape[0], dtype=bool)
        start = time.perf_counter()
        for step in range(max_new_tokens):
            next_token: Array = self._select(logits, temperature)
            tokens = np.concatenate([tokens, next_token[:, None]], axis=1)
            if eos_token is not None:
                finished |= next_token == eos_token
                if finished.all():
                    break
            if step + 1 < max_new_tokens:
                logits = self.forward(next_token[:, None])
        decode_seconds: float = time.perf_counter() - start
        return tokens, {"prefill": prefill_seconds, "decode": decode_seconds}


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 10: MEMORY ANALYSIS
# ══════════════════════════════════════════════════════════════════════════════
#
#     cache bytes = 2 * L * B * S * H * D * bytes_per_element
#
# The growth is linear in S and in B. The weights are constant.
#
# ──────────────────────────────────────────────────────────────────────────────


class MemoryAnalyzer:
    """Memory growth and latency estimation of the KV-cache."""

    def __init__(self, config: KVCacheConfig) -> None:
        self.config: KVCacheConfig = config

    def cache_bytes(self, batch_size: int, seq_len: int) -> int:
        """Cache size in bytes for a batch."""
        return self.config.bytes_per_token * batch_size * seq_len

    def growth_rate(self, batch_size: int = 1) -> int:
        """Additional bytes per generated token (of all sequences together)."""
        return self.config.bytes_per_token * batch_size

    def weight_bytes(self, ffn_multiplier: int = 4) -> int:
        """Bytes of the weights of the stack, without embeddings."""
        embed_dim: int = self.config.embed_dim
        per_layer: int = 4 * embed_dim ** 2 + 2 * ffn_multiplier * embed_dim ** 2
        return self.config.num_layers * per_layer * self.config.bytes_per_element

    def estimate_latency(
        self,
        batch_size: int,
        seq_len: int,
        bandwidth_gb_s: float = 2000.0,
        compute_tflops: float = 300.0,
    ) -> Dict[str, Union[float, str]]:
        """
        Estimate the latency of one decode step (roofline model).

            memory time  = (weights + cache) / bandwidth
            compute time = FLOPs / peak
            latency      = max(memory time, compute time)

        Returns:
            Dict with 'memory_ms', 'compute_ms', 'latency_ms' and 'bound'
        """
        embed_dim: int = self.config.embed_dim
        total_bytes: int = self.weight_bytes() + self.cache_bytes(batch_size, seq_len)
        memory_ms: float = total_bytes / (bandwidth_gb_s * 1e9) * 1e3

        projection_flops: int = 2 * 12 * embed_dim ** 2
        attention_flops: int = 4 * seq_len * embed_dim
        flops: int = batch_size * self.config.num_layers * (projection_flops + attention_flops)
        compute_ms: float = flops / (compute_tflops * 1e12) * 1e3
        return {
            "memory_ms": memory_ms,
            "compute_ms": compute_ms,
            "latency_ms": max(memory_ms, compute_ms),
            "bound": "memory" if memory_ms >= compute_ms else "compute",
        }

    def report(self, batch_sizes: Sequence[int], seq_lens: Sequence[int]) -> str:
        """Table of cache size and estimated latency."""
        lines: List[str] = [
            "┌───────┬──────────┬──────────────┬──────────────┬──────────┐",
            "│ batch │  seq_len │    cache MiB │   latency ms │    bound │",
            "├───────┼──────────┼──────────────┼──────────────┼──────────┤",
        ]
        for batch_size in batch_sizes:
            for seq_len in seq_lens:
                mib: float = self.cache_bytes(batch_size, seq_len) / 2 ** 20
                estimate = self.estimate_latency(batch_size, seq_len)
                lines.append(
                    f"│ {batch_size:>5} │ {seq_len:>8} │ {mib:>12.2f} │ "
                    f"{estimate['latency_ms']:>12.4f} │ {estimate['bound']:>8} │"
                )
        lines.append("└───────┴──────────┴──────────────┴──────────────┴──────────┘")
        return "\n".join(lines)


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 11: OPTIMIZATIONS AND GPU MAPPING
# ══════════════════════════════════════════════════════════════════════════════
#
# OPTIMIZATION 1: PAGED ATTENTION
#
#     See SECTION 4. Waste drops from (max_seq_len - seq_len) positions per
#     sequence to less than one block per sequence and layer.
#
# OPTIMIZATION 2: CHUNKED PREFILL
#
#     A prompt of S tokens needs S x S scores per head. Processing it in chunks
#     of C tokens limits this to C x S:
#
#         for start in 0, C, 2C, ...:
#             q_chunk      = project(x[start : start + C])
#             append K, V of the chunk to the cache
#             scores_chunk = q_chunk @ K[: start + C]^T      <- C x (start + C)
#
#     ┌───────────┬──────────────────────┬──────────────────────┐
#     │ S         │ full prefill (FP32)  │ chunked, C = 512     │
#     ├───────────┼──────────────────────┼──────────────────────┤
#     │  2,048    │   16 MiB per head    │   4 MiB per head     │
#     │  8,192    │  256 MiB per head    │  16 MiB per head     │
#     │ 32,768    │    4 GiB per head    │  64 MiB per head     │
#     └───────────┴──────────────────────┴──────────────────────┘
#
#     The total FLOPs stay the same.
#
# OPTIMIZATION 3: QUANTIZATION
#
#     K and V tolerate a lower precision than the weights:
#
#         q = round((x - min) / scale),  scale = (max - min) / (2^bits - 1)
#         x ≈ q * scale + min
#
#     ┌──────────┬─────────────────┬──────────────────┬────────────────────────┐
#     │ Format   │ Bytes / element │ Cache of 7B, 4K  │ Quality                │
#     ├──────────┼─────────────────┼──────────────────┼────────────────────────┤
#     │ FP32     │ 4.0             │ 4.0 GiB          │ reference              │
#     │ FP16     │ 2.0             │ 2.0 GiB          │ no visible loss        │
#     │ INT8     │ 1.0 + scales    │ 1.0 GiB          │ small loss             │
#     │ INT4     │ 0.5 + scales    │ 0.5 GiB          │ needs grouped scales   │
#     └──────────┴─────────────────┴──────────────────┴────────────────────────┘
#
#     Keys are quantized per channel, values per token.
#
# GPU MAPPING
#
#     ┌───────────────────────┬──────────────────────────────────────────────┐
#     │ Operation             │ Mapping                                      │
#     ├───────────────────────┼──────────────────────────────────────────────┤
#     │ Q, K, V projection    │ one GEMM with fused weights [E, 3E]          │
#     │ cache append          │ one thread per element, coalesced over D     │
#     │ Q K^T (decode)        │ one thread block per (sequence, head)        │
#     │ softmax               │ warp reduction with shuffles                 │
#     │ P V (decode)          │ one thread per element of D                  │
#     │ block table lookup    │ table in shared memory, one load per block   │
#     └───────────────────────┴──────────────────────────────────────────────┘
#
# ──────────────────────────────────────────────────────────────────────────────


# ══════════════════════════════════════════════════════════════════════════════
# SECTION 12: DEMONSTRATION AND BENCHMARK
# ══════════════════════════════════════════════════════════════════════════════


def print_banner(title: str) -> None:
    """Print a section banner."""
    print()
    print("═" * 78)
    print(f"  {title}")
    print("═" * 78)


def demo_caches(config: KVCacheConfig) -> None:
    """Show the flat and the paged cache."""
    print_banner("1. FLAT AND PAGED KV-CACHE")
    rng: np.random.Generator = np.random.default_rng(0)
    keys: Array = rng.standard_normal((config.num_heads, 20, config.head_dim)).astype(config.dtype)
    values: Array = rng.standard_normal(keys.shape).astype(config.dtype)

    flat: FlatKVCache = FlatKVCache.from_config(config)
    paged: PagedKVCache = PagedKVCache.from_config(config)
    paged.add_sequence(0)
    for layer_idx in range(config.num_layers):
        flat.write_sequence(layer_idx, 0, 0, keys, values)
        paged.append_many(0, layer_idx, keys, values)
    print(f"  {flat}")
    for name, value in paged.statistics().items():
        print(f"  paged {name:<24} {value:.3f}" if isinstance(value, float) else f"  paged {name:<24} {value}")


def demo_attention(config: KVCacheConfig) -> None:
    """Show prefill and one decode step of a single attention layer."""
    print_banner("2. MULTI-HEAD ATTENTION")
    rng: np.random.Generator = np.random.default_rng(1)
    attention: MultiHeadAttention = MultiHeadAttention(config.embed_dim, config.num_heads, seed=0)
    x: Array = rng.standard_normal((2, 9, config.embed_dim)).astype(config.dtype)
    _, kv_pair = attention.forward(x[:, :8])
    output, (keys, _) = attention.forward(x[:, 8:], {0: kv_pair})
    print(f"  prefill cache {kv_pair[0].shape}, after one step {keys.shape}, output {output.shape}")


def demo_engine(config: KVCacheConfig) -> None:
    """Show a batch of three sequences of different lengths."""
    print_banner("3. BATCHED INFERENCE ENGINE")
    rng: np.random.Generator = np.random.default_rng(2)
    engine: BatchedInferenceEngine = BatchedInferenceEngine(config)
    prompts: List[Array] = [
        rng.standard_normal((n, config.embed_dim)).astype(config.dtype) for n in (7, 4, 11)
    ]
    hidden: Array = engine.start_batch(prompts)
    for step in range(4):
        hidden = engine.step_inference(hidden[:, None, :])
        for s in engine.sequences:
            engine.record_token(s.seq_id, 0 if step == 1 and s.seq_id == 1 else 5, eos_token=0)
    for s in engine.sequences:
        print(f"  sequence {s.seq_id}: length {s.total_len:>3}, finished {s.is_finished}")


def benchmark_generation(config: KVCacheConfig) -> None:
    """Time the generation with the cache."""
    print_banner("4. GENERATION BENCHMARK")
    generator: KVCacheAwareGenerator = KVCacheAwareGenerator(config, vocab_size=256)
    prompt: Array = np.random.default_rng(3).integers(0, 256, size=(2, 32))
    tokens, timing = generator.generate(prompt, max_new_tokens=16)
    print(f"  tokens {tokens.shape}, prefill {timing['prefill'] * 1e3:.1f} ms, decode {timing['decode'] * 1e3:.1f} ms")


def main() -> None:
    """Run all demonstrations."""
    config: KVCacheConfig = KVCacheConfig()
    print(f"KV-CACHE SYSTEM: {config.describe()}")
    demo_caches(config)
    demo_attention(config)
    demo_engine(config)
    benchmark_generation(config)
    print_banner("5. MEMORY ANALYSIS")
    print(MemoryAnalyzer(config).report((1, 8), (256, 1024, 4096)))


if __name__ == "__main__":
    main()
