# bug: a closed slot keeps its block numbers as an array; a sequence that comes into it reads the old blocks
# caught by: paged, capacity
# passes: incremental_equals_full, isolation, memory_model, variable_lengths
"""Paged KV cache with integer sequence slots, and attention over it.

A slot is claimed with ``open()`` and returned with ``close(slot)``.  Each step
first reserves positions for all layers, ``start = cache.reserve(slot, n)``, and
then each layer stores its keys and values at ``start``:

    cache = PagedKVCache(num_layers=1, num_blocks=8, block_size=4, num_kv_heads=2, head_dim=8)
    s = cache.open()
    out = cache.step(s, [(q, k, v)])     # one (q, k, v) triple per layer
"""
import heapq

import numpy as np

from block_pool import BlockPool, OutOfBlocks

__all__ = ["PagedKVCache", "OutOfBlocks", "kv_bytes"]


class PagedKVCache:
    def __init__(self, num_layers, num_blocks, block_size, num_kv_heads, head_dim, dtype=np.float32):
        self.pool = BlockPool(num_layers, num_blocks, block_size, num_kv_heads, head_dim, dtype)
        self.num_layers = num_layers
        self._tables = {}       # slot -> list of block numbers
        self._lengths = {}      # slot -> tokens
        self._index = {}        # slot -> block numbers as an array, for gathers
        self._spare = []        # closed slots, smallest first
        self._next = 0

    # -- sequences ---------------------------------------------------------
    def open(self):
        """Claim the smallest unused slot."""
        if self._spare:
            slot = heapq.heappop(self._spare)
        else:
            slot, self._next = self._next, self._next + 1
        self._tables[slot], self._lengths[slot] = [], 0
        return slot

    def close(self, slot):
        """Return a sequence's blocks to the pool."""
        self._require(slot)
        self.pool.give(self._tables.pop(slot))
        del self._lengths[slot]
        heapq.heappush(self._spare, slot)

    def length(self, slot):
        self._require(slot)
        return self._lengths[slot]

    def block_table(self, slot):
        self._require(slot)
        return tuple(self._tables[slot])

    def utilization(self):
        """Tokens held over token places in claimed blocks (1.0 when idle)."""
        claimed = sum(map(len, self._tables.values())) * self.pool.block_size
        return sum(self._lengths.values()) / claimed if claimed else 1.0

    def _require(self, slot):
        if slot not in self._tables:
            raise KeyError(f"slot {slot!r} is not open")

    # -- data --------------------------------------------------------------
    def reserve(self, slot, n=1):
        """Make room for n tokens in all layers; returns the first position."""
        self._require(slot)
        if n < 1:
            raise ValueError("n must be positive")
        start, table = self._lengths[slot], self._tables[slot]
        missing = -(-(start + n) // self.pool.block_size) - len(table)
        if missing > 0:
            table.extend(self.pool.take(missing))
        self._lengths[slot] = start + n
        return start

    def write(self, layer, slot, start, k, v):
        """Store k, v (n, KVH, D) at positions start .. start+n-1."""
        self._require(slot)
        if start + len(k) > self._lengths[slot]:
            raise IndexError("write past the reserved length")
        pos = np.arange(start, start + len(k))
        table = np.asarray(self._tables[slot])
        blocks, rows = table[pos // self.pool.block_size], pos % self.pool.block_size
        self.pool.data[layer, 0, blocks, rows] = k
        self.pool.data[layer, 1, blocks, rows] = v

    def _gather_index(self, slot):
        """Block numbers of a slot as an array.

        Converting the list on each step would cost O(S) Python work per layer
        and token.  Tables only ever grow at the end, so the array of the last
        call is a prefix of what is needed now and only the tail is converted.
        """
        table = self._tables[slot]
        known = self._index.get(slot)
        if known is None:
            known = np.empty(0, np.intp)
        if len(known) < len(table):
            known = np.concatenate([known, np.asarray(table[len(known):], np.intp)])
            self._index[slot] = known
        return known[: len(table)]

    def read(self, layer, slot):
        """K and V of a slot, each (length, KVH, D), as copies."""
        self._require(slot)
        n, index = self._lengths[slot], self._gather_index(slot)
        kv = self.pool.data[layer][:, index]
        kv = kv.reshape(2, -1, *kv.shape[3:])[:, :n]
        return kv[0], kv[1]

    # -- attention ---------------------------------------------------------
    def attend(self, layer, slot, q, start):
        """q (n, H, D) sits at positions start .. start+n-1; causal."""
        k, v = self.read(layer, slot)
        group, rest = divmod(q.shape[1], k.shape[1])
        if rest:
            raise ValueError("query heads must be a multiple of KV heads")
        k, v = np.repeat(k, group, axis=1), np.repeat(v, group, axis=1)
        s = np.einsum("nhd,shd->hns", q, k) / np.sqrt(q.shape[2]).astype(q.dtype)
        allowed = np.arange(k.shape[0])[None, :] <= start + np.arange(len(q))[:, None]
        s = np.where(allowed, s, s.dtype.type(-np.inf))
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        return np.einsum("hns,shd->nhd", p, v)

    def step(self, slot, qkv):
        """Append n tokens and attend.  ``qkv``: one (q, k, v) per layer, each (n, heads, D)."""
        if len(qkv) != self.num_layers:
            raise ValueError(f"need {self.num_layers} (q, k, v) triples")
        start = self.reserve(slot, len(qkv[0][0]))
        outs = []
        for layer, (q, k, v) in enumerate(qkv):
            self.write(layer, slot, start, k, v)
            outs.append(self.attend(layer, slot, q, start))
        return outs

    def prefill(self, slot, qkv, chunk_size=None):
        """Like ``step``, ``chunk_size`` tokens at a time."""
        n = len(qkv[0][0])
        size = chunk_size or n
        parts = [self.step(slot, [tuple(x[a:a + size] for x in t) for t in qkv]) for a in range(0, n, size)]
        return [np.concatenate(p) for p in zip(*parts)]


def kv_bytes(num_layers, num_kv_heads, head_dim, tokens=1, itemsize=2):
    """Bytes of keys and values for a number of tokens."""
    return 2 * num_layers * num_kv_heads * head_dim * tokens * itemsize
