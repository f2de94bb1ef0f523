# right: pages of codes with handles that may be forked; attention over a handle
# only: incremental_equals_full, variable_lengths, cache_size_minimality, isolation, growth, capacity, paged, quantized, gqa
"""Paged KV cache with optional INT8 / INT4 pages.

One pool of fixed-size pages serves all sequences.  A page covers ``page_tokens`` consecutive
tokens of one sequence in *all* layers.  ``fork`` shares pages between sequences; a shared page
is copied when one of its owners writes to it (copy on write).
"""
from __future__ import annotations

import numpy as np

from quant import GroupQuantizer, RawStore


class OutOfPages(MemoryError):
    """The pool has too few free pages; the cache is unchanged."""


class PagedCache:
    def __init__(self, layers: int, kv_heads: int, head_dim: int, *, pages: int,
                 page_tokens: int = 16, bits: int = 32, group: int = 32):
        self.layers, self.kv_heads, self.head_dim = layers, kv_heads, head_dim
        self.pages, self.page_tokens = pages, page_tokens
        self.codec = RawStore(head_dim) if bits == 32 else GroupQuantizer(head_dim, bits, group)
        lead = (pages, layers, 2, page_tokens, kv_heads)             # axis 2: 0 = key, 1 = value
        if bits == 32:
            self._pool = [np.zeros(lead + (head_dim,), np.float32)]
        else:
            self._pool = [np.zeros(lead + (self.codec.code_bytes,), np.uint8),
                          np.zeros(lead + (self.codec.n_groups,), np.float32),
                          np.zeros(lead + (self.codec.n_groups,), np.float32)]
        self._owners = np.zeros(pages, np.int64)
        self._free = list(range(pages - 1, -1, -1))
        self._table: dict[int, list[int]] = {}
        self._length: dict[int, np.ndarray] = {}                     # per layer
        self._next_id = 0

    # ------------------------------------------------------------------ sequences
    def open(self) -> int:
        """Start an empty sequence and return its handle."""
        handle, self._next_id = self._next_id, self._next_id + 1
        self._table[handle] = []
        self._length[handle] = np.zeros(self.layers, np.int64)
        return handle

    def fork(self, handle: int) -> int:
        """A second sequence with the same history, sharing its pages."""
        child = self.open()
        self._table[child] = list(self._pages_of(handle))
        self._owners[self._table[child]] += 1
        self._length[child] = self._length[handle].copy()
        return child

    def close(self, handle: int) -> None:
        """Give the sequence's pages back (shared pages stay with the other owners)."""
        for page in self._pages_of(handle):
            self._release(page)
        del self._table[handle], self._length[handle]

    def length(self, handle: int, layer: int = 0) -> int:
        self._pages_of(handle)
        return int(self._length[handle][layer])

    @property
    def free_pages(self) -> int:
        return len(self._free)

    # ------------------------------------------------------------------ data
    def append(self, handle: int, layer: int, k, v) -> None:
        """Append T >= 0 tokens to one layer of one sequence: k, v (T, kv_heads, head_dim).

        A single token may be given as (kv_heads, head_dim).
        """
        k, v = (np.asarray(a, np.float32) for a in (k, v))
        k, v = (a[None] if a.ndim == 2 else a for a in (k, v))
        want = (self.kv_heads, self.head_dim)
        if k.ndim != 3 or k.shape[1:] != want or v.shape != k.shape:
            raise ValueError(f"k and v must be (T, {want[0]}, {want[1]}), got {k.shape} and {v.shape}")
        table, P = self._pages_of(handle), self.page_tokens
        start = int(self._length[handle][layer])
        stop = start + len(k)
        if stop == start:
            return

        missing = max(0, -(-stop // P) - len(table))
        touched = range(start // P, min(len(table), -(-stop // P)))
        shared = [i for i in touched if self._owners[table[i]] > 1]
        if missing + len(shared) > len(self._free):
            raise OutOfPages(f"need {missing + len(shared)} pages, {len(self._free)} of {self.pages} free")
        for i in shared:
            fresh = self._take()
            for array in self._pool:
                array[fresh] = array[table[i]]
            self._release(table[i])
            table[i] = fresh
        table.extend(self._take() for _ in range(missing))

        token = np.arange(start, stop)
        page, slot = np.asarray(table)[token // P], token % P
        for side, x in enumerate((k, v)):
            parts = (x,) if self.codec.bits == 32 else self.codec.encode(x)
            for array, part in zip(self._pool, parts):
                array[page, layer, side, slot] = part
        self._length[handle][layer] = stop

    def iter_pages(self, handle: int, layer: int):
        """Yield (first_position, k, v) page by page, dequantized, valid tokens only."""
        n = self.length(handle, layer)
        for i, page in enumerate(self._pages_of(handle)):
            used = min(self.page_tokens, n - i * self.page_tokens)
            if used <= 0:
                break
            k, v = (self._load(page, layer, side, used) for side in (0, 1))
            yield i * self.page_tokens, k, v

    def gather(self, handle: int, layer: int):
        """The whole history of one layer: (k, v), each (length, kv_heads, head_dim) float32."""
        out = np.empty((2, self.length(handle, layer), self.kv_heads, self.head_dim), np.float32)
        for at, k, v in self.iter_pages(handle, layer):
            out[0, at:at + len(k)], out[1, at:at + len(v)] = k, v
        return out[0], out[1]

    # ------------------------------------------------------------------ internals
    def _pages_of(self, handle: int) -> list[int]:
        try:
            return self._table[handle]
        except KeyError:
            raise KeyError(f"unknown or closed sequence {handle}") from None

    def _take(self) -> int:
        page = self._free.pop()
        self._owners[page] = 1
        return page

    def _release(self, page: int) -> None:
        self._owners[page] -= 1
        if self._owners[page] == 0:
            self._free.append(page)

    def _load(self, page: int, layer: int, side: int, used: int) -> np.ndarray:
        parts = [array[page, layer, side, :used] for array in self._pool]
        return parts[0].copy() if self.codec.bits == 32 else self.codec.decode(*parts)


def paged_attention(q, cache: PagedCache, handle: int, layer: int) -> np.ndarray:
    """Attention of the last T tokens of a sequence (append first, then attend).

    q: (T, heads, head_dim); its row t is the token at position length - T + t, which sees the
    positions up to and including its own.  heads is a multiple of kv_heads (GQA / MQA).  Pages
    are visited one at a time with an online softmax, so the history is never concatenated.
    """
    q = np.asarray(q, np.float32)
    T, H, D = q.shape
    n = cache.length(handle, layer)
    if T > n:
        raise ValueError(f"{T} queries but only {n} cached tokens")
    if H % cache.kv_heads:
        raise ValueError("heads must be a multiple of kv_heads")
    q = q.reshape(T, cache.kv_heads, -1, D) / np.float32(np.sqrt(D))
    position = np.arange(n - T, n)
    best = np.full(q.shape[:3], -np.inf, np.float32)
    mass = np.zeros(q.shape[:3], np.float32)
    acc = np.zeros_like(q)
    for first, k, v in cache.iter_pages(handle, layer):
        score = np.einsum("tkgd,skd->tkgs", q, k)
        seen = first + np.arange(len(k)) <= position[:, None]
        score = np.where(seen[:, None, None], score, -np.inf)
        new = np.maximum(best, score.max(axis=-1))          # finite: page 0 holds position 0
        keep = np.exp(best - new)
        p = np.exp(score - new[..., None])
        mass = mass * keep + p.sum(axis=-1)
        acc = acc * keep[..., None] + np.einsum("tkgs,skd->tkgd", p, v)
        best = new
    return (acc / mass[..., None]).reshape(T, H, D) if T else acc.reshape(0, H, D)


def paged_attention_batch(q, cache: PagedCache, handles, layer: int) -> np.ndarray:
    """One decode step for a batch of any lengths: q (B, heads, head_dim) -> (B, heads, head_dim)."""
    return np.stack([paged_attention(x[None], cache, h, layer)[0] for x, h in zip(q, handles)])


def cache_bytes(layers: int, kv_heads: int, head_dim: int, lengths, *, page_tokens: int = 16,
                bits: int = 32, group: int = 32) -> int:
    """Bytes of the pages that sequences of the given lengths occupy (no sharing)."""
    codec = RawStore(head_dim) if bits == 32 else GroupQuantizer(head_dim, bits, group)
    pages = sum(-(-n // page_tokens) for n in lengths)
    return pages * page_tokens * layers * 2 * kv_heads * codec.bytes_per_vector
