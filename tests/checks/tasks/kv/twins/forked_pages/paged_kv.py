"""Paged KV cache with copy-on-write forks, and attention that walks the pages.

* One physical array ``pages : (n_pages, layers, 2, page_size, kv_heads, head_dim)``.
* The pool starts tiny and doubles up to ``max_pages``; it never shrinks, so the
  allocated bytes are the high-water mark and ``utilization()`` tells live / mapped.
* ``fork`` shares pages by reference count; a shared page is copied at the first
  write of either side.
* Attention is an online softmax over pages: scratch memory is one page, not S.
"""
from __future__ import annotations

import math

import numpy as np


class OutOfPages(MemoryError):
    """The pool is exhausted; nothing was changed."""


class PagedKVCache:
    def __init__(self, *, layers: int, kv_heads: int, head_dim: int,
                 page_size: int = 16, max_pages: int = 1024, dtype=np.float64):
        if min(layers, kv_heads, head_dim, page_size, max_pages) < 1:
            raise ValueError("all sizes must be positive")
        self.layers, self.kv_heads, self.head_dim = layers, kv_heads, head_dim
        self.page_size, self.max_pages = page_size, max_pages
        self.pages = np.zeros((0, layers, 2, page_size, kv_heads, head_dim), dtype)
        self._refs: list[int] = []
        self._free: list[int] = []
        self._tables: dict[int, list[int]] = {}
        self._filled: dict[int, list[int]] = {}    # per sequence: tokens per layer
        self._next = 0

    # ---- life of a sequence ---------------------------------------------------
    def open(self) -> int:
        """Start an empty sequence and return its id (ids are never reused)."""
        seq, self._next = self._next, self._next + 1
        self._tables[seq], self._filled[seq] = [], [0] * self.layers
        return seq

    def fork(self, seq: int) -> int:
        """A second sequence with the same past; costs no page until one of both writes."""
        table = self._table(seq)
        child = self.open()
        self._tables[child] = list(table)
        self._filled[child] = list(self._filled[seq])
        for p in table:
            self._refs[p] += 1
        return child

    def close(self, seq: int) -> int:
        """Release a sequence; returns how many pages became free (0 if already closed)."""
        if not 0 <= seq < self._next:
            raise KeyError(f"sequence {seq} was never opened")
        released = 0
        self._filled.pop(seq, None)
        for p in self._tables.pop(seq, ()):
            released += self._unref(p)
        return released

    # ---- data -------------------------------------------------------------------
    def append(self, seq: int, layer: int, k: np.ndarray, v: np.ndarray) -> int:
        """Add (T, kv_heads, head_dim) to one layer of one sequence; returns its length there.

        All-or-nothing: on ``OutOfPages`` the sequence and the pool are as before.
        """
        table = self._table(seq)
        k, v = np.asarray(k), np.asarray(v)
        if k.shape != v.shape or k.shape[1:] != (self.kv_heads, self.head_dim):
            raise ValueError(f"expected (T, {self.kv_heads}, {self.head_dim}), got {k.shape} and {v.shape}")
        if not 0 <= layer < self.layers:
            raise IndexError(f"layer {layer} of {self.layers}")
        lo = self._filled[seq][layer]
        hi, ps = lo + len(k), self.page_size
        if hi == lo:
            return hi
        last = -(-hi // ps)
        shared = [i for i in range(lo // ps, min(last, len(table))) if self._refs[table[i]] > 1]
        fresh = max(0, last - len(table))
        if len(shared) + fresh > self.available_pages:
            raise OutOfPages(f"need {len(shared) + fresh} pages, {self.available_pages} available")
        for i in shared:
            p = self._take()
            self.pages[p] = self.pages[table[i]]
            self._unref(table[i])
            table[i] = p
        table.extend(self._take() for _ in range(fresh))
        pos = np.arange(lo, hi)
        page, slot = np.asarray(table)[pos // ps], pos % ps
        self.pages[page, layer, 0, slot] = k
        self.pages[page, layer, 1, slot] = v
        self._filled[seq][layer] = hi
        return hi

    def length(self, seq: int, layer: int = -1) -> int:
        self._table(seq)
        return self._filled[seq][layer]

    def spans(self, seq: int, layer: int):
        """Yield ``(first_position, k, v)`` views, page after page, live slots only."""
        n, ps = self._filled[seq][layer], self.page_size
        for i, p in enumerate(self._table(seq)):
            m = min(ps, n - i * ps)
            if m <= 0:
                return
            yield i * ps, self.pages[p, layer, 0, :m], self.pages[p, layer, 1, :m]

    def gather(self, seq: int, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """Contiguous copies (S, kv_heads, head_dim) of keys and values."""
        self._table(seq)
        parts = list(self.spans(seq, layer))
        if not parts:
            e = np.zeros((0, self.kv_heads, self.head_dim), self.pages.dtype)
            return e, e.copy()
        return np.concatenate([k for _, k, _ in parts]), np.concatenate([v for _, _, v in parts])

    # ---- accounting ---------------------------------------------------------------
    @property
    def available_pages(self) -> int:
        """Pages that can still be handed out: idle ones plus those not yet backed by memory."""
        return len(self._free) + self.max_pages - len(self._refs)

    @property
    def nbytes(self) -> int:
        return self.pages.nbytes

    def utilization(self) -> float:
        """Live slots / slots of mapped pages, over open sequences (above 1 with sharing)."""
        mapped = len(self._refs) - len(self._free)
        live = sum(max(f) for f in self._filled.values())
        return live / (mapped * self.page_size) if mapped else 1.0

    # ---- internals ------------------------------------------------------------------
    def _table(self, seq: int) -> list[int]:
        try:
            return self._tables[seq]
        except KeyError:
            raise KeyError(f"sequence {seq} is not open") from None

    def _take(self) -> int:
        if not self._free:
            old = len(self._refs)
            new = min(self.max_pages, max(4, 2 * old))
            grown = np.zeros((new, *self.pages.shape[1:]), self.pages.dtype)
            grown[:old] = self.pages
            self.pages = grown
            self._refs.extend([0] * (new - old))
            self._free.extend(range(new - 1, old - 1, -1))
        p = self._free.pop()
        self._refs[p] = 1
        return p

    def _unref(self, p: int) -> int:
        self._refs[p] -= 1
        if self._refs[p] == 0:
            self._free.append(p)
            return 1
        return 0


def paged_attention(cache: PagedKVCache, seq: int, layer: int, q: np.ndarray) -> np.ndarray:
    """Causal attention of the *last* T tokens, q (T, heads, head_dim), over the pages of seq.

    The keys of these T tokens must be in the cache already.  Grouped heads: query
    head h reads kv head ``h // (heads // kv_heads)``.
    """
    T, H, D = q.shape
    G, n = H // cache.kv_heads, cache.length(seq, layer)
    if T > n:
        raise ValueError(f"{T} queries but only {n} cached tokens")
    qg = q.reshape(T, cache.kv_heads, G, D) / math.sqrt(D)
    q_pos = np.arange(n - T, n)[:, None, None, None]
    top = np.full((T, cache.kv_heads, G, 1), -np.inf)
    den = np.zeros_like(top)
    acc = np.zeros(qg.shape)
    for first, k, v in cache.spans(seq, layer):
        s = np.einsum("tkgd,skd->tkgs", qg, k)
        s = np.where(first + np.arange(len(k)) <= q_pos, s, -np.inf)
        new = np.maximum(top, s.max(-1, keepdims=True))     # page 0 is visible to all: finite
        w, shrink = np.exp(s - new), np.exp(top - new)
        den = den * shrink + w.sum(-1, keepdims=True)
        acc = acc * shrink + np.einsum("tkgs,skd->tkgd", w, v)
        top = new
    return (acc / den).reshape(T, H, D).astype(q.dtype, copy=False)
