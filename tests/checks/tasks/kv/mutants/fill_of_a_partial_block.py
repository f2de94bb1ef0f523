# bug: freeing resets the counts of full blocks alone, so attention sees what the last one held
# caught by: paged
# passes: incremental_equals_full, variable_lengths
"""Paged KV cache: fixed-size physical blocks, block tables, a LIFO free list.

Pools are (layers, num_blocks, kv_heads, block_size, head_dim).  Every block records how
many of its slots are filled, so the attention kernel needs only a block table: it walks
the blocks with an online softmax and masks each one by its own fill count.
"""
from typing import Dict, Hashable, List, Tuple

import numpy as np


class OutOfBlocks(MemoryError):
    """The pool has too few free blocks; the cache is unchanged."""


class UnknownSequence(KeyError):
    """The sequence id was never added, or has been freed."""


class PagedKVCache:
    """Block-table storage for many sequences and layers."""

    def __init__(self, num_layers: int, num_kv_heads: int, head_dim: int,
                 num_blocks: int, block_size: int = 16, dtype=np.float32):
        shape = (num_layers, num_blocks, num_kv_heads, block_size, head_dim)
        self.k_pool = np.zeros(shape, dtype)
        self.v_pool = np.zeros(shape, dtype)
        self.block_size = block_size
        self.fill = np.zeros((num_layers, num_blocks), np.int32)
        self.free_blocks: List[int] = list(range(num_blocks - 1, -1, -1))
        self.block_tables: Dict[Hashable, List[int]] = {}
        self.lengths: Dict[Hashable, np.ndarray] = {}

    # -- life cycle -----------------------------------------------------------------
    def add_sequence(self, seq_id: Hashable) -> None:
        """Register an empty sequence."""
        if seq_id in self.block_tables:
            raise ValueError(f"sequence {seq_id!r} exists already")
        self.block_tables[seq_id] = []
        self.lengths[seq_id] = np.zeros(self.fill.shape[0], np.int64)

    def free_sequence(self, seq_id: Hashable) -> None:
        """Return all blocks of a sequence to the pool."""
        table = self._table(seq_id)
        used = int(self.lengths[seq_id].max()) // self.block_size
        self.fill[:, table[:used]] = 0
        self.free_blocks.extend(reversed(table))
        del self.block_tables[seq_id], self.lengths[seq_id]

    def _table(self, seq_id: Hashable) -> List[int]:
        try:
            return self.block_tables[seq_id]
        except KeyError:
            raise UnknownSequence(seq_id) from None

    # -- writing and reading --------------------------------------------------------
    def append(self, seq_id: Hashable, layer: int, k: np.ndarray, v: np.ndarray) -> None:
        """Append n tokens to one layer; k, v: (n, num_kv_heads, head_dim)."""
        table = self._table(seq_id)
        k, v = np.asarray(k), np.asarray(v)
        if k.shape != v.shape or k.shape[1:] != (self.k_pool.shape[2], self.k_pool.shape[4]):
            raise ValueError(f"bad shapes k {k.shape}, v {v.shape}")
        start = int(self.lengths[seq_id][layer])
        end = start + k.shape[0]
        missing = -(-end // self.block_size) - len(table)
        if missing > len(self.free_blocks):
            raise OutOfBlocks(f"need {missing} blocks, {len(self.free_blocks)} free")
        for _ in range(missing):
            table.append(self.free_blocks.pop())
        pos = np.arange(start, end)
        blocks, slots = np.asarray(table, int)[pos // self.block_size], pos % self.block_size
        self.k_pool[layer, blocks, :, slots] = k
        self.v_pool[layer, blocks, :, slots] = v
        np.maximum.at(self.fill[layer], blocks, (slots + 1).astype(np.int32))
        self.lengths[seq_id][layer] = end

    def read(self, seq_id: Hashable, layer: int) -> Tuple[np.ndarray, np.ndarray]:
        """Contiguous copies (length, num_kv_heads, head_dim) of keys and values."""
        table, n = self._table(seq_id), int(self.lengths[seq_id][layer])
        out = []
        for pool in (self.k_pool, self.v_pool):
            x = pool[layer, table].transpose(0, 2, 1, 3)
            out.append(x.reshape(-1, *x.shape[2:])[:n].copy())
        return out[0], out[1]

    # -- statistics -----------------------------------------------------------------
    @property
    def num_free_blocks(self) -> int:
        return len(self.free_blocks)

    def utilization(self) -> float:
        """Tokens stored over slots in allocated blocks (1.0 when nothing is allocated)."""
        slots = sum(len(t) for t in self.block_tables.values()) * self.block_size
        return sum(int(n.max()) for n in self.lengths.values()) / slots if slots else 1.0

    def nbytes(self) -> int:
        return self.k_pool.nbytes + self.v_pool.nbytes


def paged_attention(q: np.ndarray, cache: PagedKVCache, seq_id: Hashable, layer: int) -> np.ndarray:
    """Causal GQA attention of the newest n tokens, already appended; q: (n, heads, head_dim)."""
    q = np.asarray(q)
    n, heads, dim = q.shape
    kv_heads = cache.k_pool.shape[2]
    table = cache._table(seq_id)
    qpos = int(cache.lengths[seq_id][layer]) - n + np.arange(n)
    qg = (q / np.sqrt(dim)).reshape(n, kv_heads, heads // kv_heads, dim).transpose(1, 2, 0, 3)
    m = np.full(qg.shape[:-1] + (1,), -np.inf)
    z = np.zeros_like(m)
    acc = np.zeros(qg.shape)
    chunked = n > 1                      # one decode query sees every filled slot
    for i, block in enumerate(table):
        count = int(cache.fill[layer, block])
        k = cache.k_pool[layer, block, :, :count]
        v = cache.v_pool[layer, block, :, :count]
        s = np.einsum("kgnd,ksd->kgns", qg, k)
        if chunked:
            kpos = i * cache.block_size + np.arange(count)
            s = np.where(kpos <= qpos[:, None], s, -np.inf)
        new_m = np.maximum(m, s.max(axis=-1, keepdims=True, initial=-np.inf))
        fix = np.exp(m - new_m)
        p = np.exp(s - new_m)
        z = z * fix + p.sum(axis=-1, keepdims=True)
        acc = acc * fix + np.einsum("kgns,ksd->kgnd", p, v)
        m = new_m
    return (acc / z).transpose(2, 0, 1, 3).reshape(n, heads, dim).astype(q.dtype)


def decode_step(cache, seq_ids, layer, q, k, v) -> np.ndarray:
    """One token for each sequence: q (B, heads, D), k and v (B, kv_heads, D) -> (B, heads, D)."""
    outs = []
    for i, sid in enumerate(seq_ids):
        cache.append(sid, layer, k[i:i + 1], v[i:i + 1])
        outs.append(paged_attention(q[i:i + 1], cache, sid, layer)[0])
    return np.stack(outs)


def prefill(cache, seq_id, layer, q, k, v, chunk_size=None) -> np.ndarray:
    """Append and attend a prompt (n, heads, D), whole or in chunks."""
    step = chunk_size or len(q)
    outs = []
    for a in range(0, len(q), step):
        cache.append(seq_id, layer, k[a:a + step], v[a:a + step])
        outs.append(paged_attention(q[a:a + step], cache, seq_id, layer))
    return np.concatenate(outs)
