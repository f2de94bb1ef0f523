"""
KV-cache optimizations.

    PagedKVCache      fixed-size pages and page tables (vLLM style): memory is
                      claimed as sequences grow, not for max_seq_len up front
    QuantizedKVCache  int8 codes with a scale and a zero point
    ChunkedPrefill    long prompts in chunks: bounded score matrix, causal
    HybridKVCache     pages that hold int8 codes

Every cache here offers ``update``, ``prefill``, ``get_all`` and ``seq_lens``
like KVCache does, so ``cached_attention`` runs on all of them unchanged.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Deque, Dict, List, Optional, Tuple

import numpy as np

from attention import cached_attention
from kv_cache import CacheConfig, KVCache

Arrays = Tuple[np.ndarray, np.ndarray]


def _step_lengths(active: Optional[np.ndarray], batch_size: int) -> np.ndarray:
    """Tokens per sequence in one decode step: 1, or 0 where not active."""
    if active is None:
        active = np.ones(batch_size, dtype=bool)
    return np.asarray(active, dtype=bool).astype(np.int64)


# ---- Paged KV-cache --------------------------------------------------------

@dataclass
class PageStats:
    """Occupancy of a page pool."""

    total_pages: int
    free_pages: int
    used_slots: int
    claimed_slots: int

    @property
    def utilization(self) -> float:
        """Share of the slots in claimed pages that hold a token."""
        return self.used_slots / self.claimed_slots if self.claimed_slots else 1.0


class PagedKVCache:
    """
    Paged cache of one layer.

    Physical memory is a pool of pages. A page holds ``block_size`` consecutive
    tokens of *one head*, so a logical block of a sequence maps to ``num_heads``
    physical pages:

        k_pages, v_pages : (num_pages, block_size, head_dim)
        page_tables[b]   : list over logical blocks of (num_heads,) page ids

    Token t of sequence b, head h, lives in page ``page_tables[b][t // bs][h]``
    at offset ``t % bs``. Pages of a finished sequence return to the free list
    and are handed out again; at most block_size - 1 slots per sequence and head
    are wasted.
    """

    def __init__(
        self,
        num_pages: int,
        block_size: int,
        num_heads: int,
        head_dim: int,
        batch_size: int = 1,
        dtype: type = np.float32,
    ):
        self.num_pages, self.block_size = num_pages, block_size
        self.num_heads, self.head_dim = num_heads, head_dim
        self.batch_size, self.dtype = batch_size, dtype

        self.free_list: Deque[int] = deque(range(num_pages))
        self.page_tables: List[List[np.ndarray]] = [[] for _ in range(batch_size)]
        self.seq_lens = np.zeros(batch_size, dtype=np.int64)
        self._allocate_pool()

    # -- storage: the part that HybridKVCache replaces ----------------------

    def _allocate_pool(self) -> None:
        shape = (self.num_pages, self.block_size, self.head_dim)
        self.k_pages = np.zeros(shape, dtype=self.dtype)
        self.v_pages = np.zeros(shape, dtype=self.dtype)

    def _write(
        self, pages: np.ndarray, offsets: np.ndarray, keys: np.ndarray, values: np.ndarray
    ) -> None:
        """Scatter (heads, tokens, head_dim) to pages (heads, tokens), offsets (tokens,)."""
        self.k_pages[pages, offsets] = keys
        self.v_pages[pages, offsets] = values

    def _read(self, pages: np.ndarray) -> Arrays:
        """Gather pages (heads, blocks) as (heads, blocks, block_size, head_dim)."""
        return self.k_pages[pages], self.v_pages[pages]

    @property
    def allocated_bytes(self) -> int:
        """Bytes of the physical pool."""
        return self.k_pages.nbytes + self.v_pages.nbytes

    # -- page management ----------------------------------------------------

    def _check_seq(self, seq_id: int) -> None:
        if not 0 <= seq_id < self.batch_size:
            raise IndexError(f"unknown sequence {seq_id} (batch_size={self.batch_size})")

    def _blocks_needed(self, seq_id: int, new_tokens: int) -> int:
        """Logical blocks that have to be added to hold ``new_tokens`` more."""
        total = int(self.seq_lens[seq_id]) + new_tokens
        return -(-total // self.block_size) - len(self.page_tables[seq_id])

    def _reserve(self, new_tokens: Dict[int, int]) -> None:
        """Claim pages for several sequences: all of them, or none and an error."""
        blocks = {b: self._blocks_needed(b, n) for b, n in new_tokens.items()}
        needed = sum(blocks.values()) * self.num_heads
        if needed > len(self.free_list):
            raise MemoryError(
                f"out of pages: {needed} needed, {len(self.free_list)} of {self.num_pages} free"
            )
        for b, count in blocks.items():
            for _ in range(count):
                pages = [self.free_list.popleft() for _ in range(self.num_heads)]
                self.page_tables[b].append(np.array(pages, dtype=np.int64))

    def free(self, seq_id: int) -> int:
        """Return all pages of a sequence to the free list; a second call frees none."""
        self._check_seq(seq_id)
        pages = [int(p) for block in self.page_tables[seq_id] for p in block]
        self.free_list.extend(pages)
        self.page_tables[seq_id] = []
        self.seq_lens[seq_id] = 0
        return len(pages)

    # -- cache interface ----------------------------------------------------

    def _store_tokens(self, seq_id: int, keys: np.ndarray, values: np.ndarray) -> None:
        """Write (heads, tokens, head_dim) behind the sequence; pages are reserved."""
        start, tokens = int(self.seq_lens[seq_id]), keys.shape[1]
        positions = np.arange(start, start + tokens)
        table = np.stack(self.page_tables[seq_id], axis=1)        # (heads, blocks)
        pages = table[:, positions // self.block_size]            # (heads, tokens)
        self._write(pages, positions % self.block_size, keys, values)
        self.seq_lens[seq_id] += tokens

    def append(self, seq_id: int, keys: np.ndarray, values: np.ndarray) -> None:
        """Append tokens to one sequence: keys, values (heads, tokens, head_dim)."""
        self._check_seq(seq_id)
        if keys.shape[1] == 0:
            return
        self._reserve({seq_id: keys.shape[1]})
        self._store_tokens(seq_id, keys, values)

    def update(
        self, keys: np.ndarray, values: np.ndarray, active: Optional[np.ndarray] = None
    ) -> None:
        """One decode step: keys, values (batch, heads, 1, head_dim)."""
        lengths = _step_lengths(active, self.batch_size)
        self.prefill(keys[:, :, :1, :], values[:, :, :1, :], lengths)

    def prefill(
        self, keys: np.ndarray, values: np.ndarray, lengths: Optional[np.ndarray] = None
    ) -> None:
        """Append a right-padded block: keys, values (batch, heads, tokens, head_dim)."""
        if lengths is None:
            lengths = np.full(self.batch_size, keys.shape[2], dtype=np.int64)
        self._reserve({b: int(n) for b, n in enumerate(lengths)})
        for b, n in enumerate(lengths):
            if n > 0:
                self._store_tokens(b, keys[b, :, :n], values[b, :, :n])

    def get(self, seq_id: int) -> Arrays:
        """Keys and values of one sequence, gathered: (heads, seq_len, head_dim)."""
        self._check_seq(seq_id)
        n = int(self.seq_lens[seq_id])
        if n == 0:
            empty = np.zeros((self.num_heads, 0, self.head_dim), dtype=self.dtype)
            return empty, empty.copy()
        keys, values = self._read(np.stack(self.page_tables[seq_id], axis=1))
        flat = (self.num_heads, -1, self.head_dim)
        return keys.reshape(flat)[:, :n], values.reshape(flat)[:, :n]

    def get_all(self) -> Arrays:
        """All sequences, zero-padded: (batch, heads, max(seq_lens), head_dim)."""
        longest = int(self.seq_lens.max(initial=0))
        shape = (self.batch_size, self.num_heads, longest, self.head_dim)
        keys, values = np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)
        for b, n in enumerate(self.seq_lens):
            keys[b, :, :n], values[b, :, :n] = self.get(b)
        return keys, values

    def stats(self) -> PageStats:
        """Occupancy of the pool."""
        claimed = sum(len(table) for table in self.page_tables) * self.num_heads
        return PageStats(
            total_pages=self.num_pages,
            free_pages=len(self.free_list),
            used_slots=int(self.seq_lens.sum()) * self.num_heads,
            claimed_slots=claimed * self.block_size,
        )

    @property
    def used_bytes(self) -> int:
        """Bytes of the pages that are claimed by sequences."""
        return self.allocated_bytes * (self.num_pages - len(self.free_list)) // self.num_pages


# ---- Quantized KV-cache ----------------------------------------------------

def quantize_int8(x: np.ndarray, axis: int) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
    """
    Asymmetric int8 quantization with the range taken over ``axis``.

        x ~ (code + 128) * scale + zero,   code in [-128, 127]

    Returns:
        codes (int8, shape of x), scale and zero (float32, ``axis`` kept as 1)
    """
    x64 = np.asarray(x, dtype=np.float64)
    low = x64.min(axis=axis, keepdims=True)
    high = x64.max(axis=axis, keepdims=True)
    scale = ((high - low) / 255.0).astype(np.float32)
    scale = np.where(scale > 0.0, scale, np.float32(1.0))    # constant channel
    zero = low.astype(np.float32)
    codes = np.rint((x64 - zero) / scale) - 128.0
    return np.clip(codes, -128, 127).astype(np.int8), scale, zero


def dequantize_int8(codes: np.ndarray, scale: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Inverse of quantize_int8, as float32."""
    steps = codes.astype(np.float64) + 128.0
    return (steps * scale + zero).astype(np.float32)


@dataclass
class QuantizedTensor:
    """int8 codes with their quantization parameters, all of one shape."""

    codes: np.ndarray
    scale: np.ndarray
    zero: np.ndarray

    @classmethod
    def empty(cls, shape: Tuple[int, ...]) -> "QuantizedTensor":
        ones = np.ones(shape, np.float32)
        return cls(np.zeros(shape, np.int8), ones, np.zeros_like(ones))

    def put(self, index, x: np.ndarray, axis: int) -> None:
        """Quantize x with the range over ``axis`` and store it at ``index``."""
        self.codes[index], self.scale[index], self.zero[index] = quantize_int8(x, axis)

    def take(self, index) -> np.ndarray:
        """Dequantize the part at ``index``."""
        return dequantize_int8(self.codes[index], self.scale[index], self.zero[index])

    @property
    def nbytes(self) -> int:
        return self.codes.nbytes + self.scale.nbytes + self.zero.nbytes


class QuantizedKVCache:
    """
    int8 cache of one layer.

    The range is per channel over the tokens of one call. Each position keeps
    the scale and zero it was written with, so appending never requantizes.

    NOTE on overhead: a scale and a zero per position and channel cost
    1 + 4 + 4 = 9 bytes per element, MORE than fp32 (4) or fp16 (2). With one
    token per call every channel even gets a range of its own, so decode steps
    are stored exactly. Production systems calibrate one scale per channel and
    share it over all positions; ``memory_report`` shows what that would save.
    """

    def __init__(self, config: CacheConfig):
        self.config = config
        self.k = QuantizedTensor.empty(config.shape)
        self.v = QuantizedTensor.empty(config.shape)
        self.seq_lens = np.zeros(config.batch_size, dtype=np.int64)

    def update(
        self, keys: np.ndarray, values: np.ndarray, active: Optional[np.ndarray] = None
    ) -> None:
        """One decode step: keys, values (batch, heads, 1, head_dim)."""
        lengths = _step_lengths(active, self.config.batch_size)
        self.prefill(keys[:, :, :1, :], values[:, :, :1, :], lengths)

    def prefill(
        self, keys: np.ndarray, values: np.ndarray, lengths: Optional[np.ndarray] = None
    ) -> None:
        """Append a right-padded block: keys, values (batch, heads, tokens, head_dim)."""
        if lengths is None:
            lengths = np.full(self.config.batch_size, keys.shape[2], dtype=np.int64)
        if np.any(self.seq_lens + lengths > self.config.max_seq_len):
            raise ValueError(f"KV cache overflow (max_seq_len={self.config.max_seq_len})")
        for b, n in enumerate(lengths):
            if n > 0:
                start = int(self.seq_lens[b])
                index = (b, slice(None), slice(start, start + int(n)))
                self.k.put(index, keys[b, :, :n], axis=1)
                self.v.put(index, values[b, :, :n], axis=1)
        self.seq_lens += lengths

    def get_all(self) -> Arrays:
        """Dequantized float32: (batch, heads, max(seq_lens), head_dim)."""
        index = (slice(None), slice(None), slice(0, int(self.seq_lens.max(initial=0))))
        return self.k.take(index), self.v.take(index)

    @property
    def allocated_bytes(self) -> int:
        """Codes, scales and zeros of keys and values."""
        return self.k.nbytes + self.v.nbytes

    def memory_report(self) -> Dict[str, float]:
        """Bytes and savings in percent (negative = larger than the plain cache)."""
        elements = self.k.codes.size + self.v.codes.size
        total = self.allocated_bytes
        # one scale and one zero per channel, shared by all positions
        shared = elements + 8 * elements // self.config.max_seq_len
        return {
            "code_bytes": elements,
            "metadata_bytes": total - elements,
            "total_bytes": total,
            "bytes_per_element": total / elements,
            "savings_vs_fp32": 100.0 * (1.0 - total / (4 * elements)),
            "savings_vs_fp16": 100.0 * (1.0 - total / (2 * elements)),
            "shared_savings_vs_fp32": 100.0 * (1.0 - shared / (4 * elements)),
        }


# ---- Chunked prefill -------------------------------------------------------

@dataclass
class ChunkedPrefill:
    """
    Causal prefill of a long prompt, ``chunk_size`` tokens at a time.

    Chunk c appends its own keys and values and then attends to the cache, i.e.
    to chunks 0..c in full and causally to itself. Exact: the peak score matrix
    shrinks from (S x S) to (chunk_size x S) and nothing else changes.
    """

    chunk_size: int
    peak_scores: int = 0        # largest (queries x keys) of the last run

    def run(self, q: np.ndarray, k: np.ndarray, v: np.ndarray, cache: KVCache) -> np.ndarray:
        """
        Args:
            q: (batch, q_heads, tokens, head_dim)
            k, v: (batch, kv_heads, tokens, head_dim)
            cache: filled by the call; may already hold an earlier prefix

        Returns:
            (batch, q_heads, tokens, head_dim), equal to full causal attention
        """
        self.peak_scores = 0
        outputs: List[np.ndarray] = []
        for start in range(0, q.shape[2], self.chunk_size):
            chunk = slice(start, start + self.chunk_size)
            cache.prefill(k[:, :, chunk], v[:, :, chunk])
            outputs.append(cached_attention(q[:, :, chunk], cache))
            scores = outputs[-1].shape[2] * int(cache.seq_lens.max())
            self.peak_scores = max(self.peak_scores, scores)
        return np.concatenate(outputs, axis=2)


# ---- Hybrid: paged + quantized ---------------------------------------------

class HybridKVCache(PagedKVCache):
    """
    Page tables of PagedKVCache over a pool of int8 pages.

    Removes the max_seq_len reservation and quantizes what is left. Scale and
    zero are kept per position as in QuantizedKVCache, so the same 9 bytes per
    element apply to the claimed pages.
    """

    def _allocate_pool(self) -> None:
        shape = (self.num_pages, self.block_size, self.head_dim)
        self.k_pool = QuantizedTensor.empty(shape)
        self.v_pool = QuantizedTensor.empty(shape)

    def _write(
        self, pages: np.ndarray, offsets: np.ndarray, keys: np.ndarray, values: np.ndarray
    ) -> None:
        self.k_pool.put((pages, offsets), keys, axis=1)
        self.v_pool.put((pages, offsets), values, axis=1)

    def _read(self, pages: np.ndarray) -> Arrays:
        return self.k_pool.take(pages), self.v_pool.take(pages)

    @property
    def allocated_bytes(self) -> int:
        return self.k_pool.nbytes + self.v_pool.nbytes
