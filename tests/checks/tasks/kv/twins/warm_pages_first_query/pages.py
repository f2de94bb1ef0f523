"""Paged key/value storage with content-addressed pages.

A page holds `page_size` tokens of one layer: pool[page] = (2, kv_heads, page_size, head_dim).
As soon as a page is full it is immutable, so it can be shared: pages with byte-identical content are
stored once (two requests with one system prompt cost one copy). A page that loses its last user stays
*warm*: it still counts as free, keeps its content, and is recycled in least-recently-used order only
when the blank pages have run out.
"""
import hashlib
from collections import OrderedDict

import numpy as np


class OutOfPages(MemoryError):
    """Not enough pages for a write; nothing has been written."""


class PagedStore:
    def __init__(self, num_pages, page_size, kv_heads, head_dim, dtype=np.float32):
        self.page_size = page_size
        self.pool = np.zeros((num_pages, 2, kv_heads, page_size, head_dim), dtype)
        self._blank = list(range(num_pages - 1, -1, -1))
        self._warm = OrderedDict()            # page -> None, oldest first
        self._refs = np.zeros(num_pages, np.int32)
        self._by_digest = {}                  # content digest -> page
        self._digest_of = {}                  # page -> content digest
        self._tables = {}                     # seq -> [page, ...]
        self._lengths = {}                    # seq -> tokens

    # -- accounting ----------------------------------------------------------------------------
    @property
    def pages_free(self):
        """Pages a write can get: blank ones and warm ones."""
        return len(self._blank) + len(self._warm)

    @property
    def pages_in_use(self):
        return len(self.pool) - self.pages_free

    def utilization(self):
        """Share of the slots of the used pages that hold a token (over 1 where pages are shared)."""
        held = sum(self._lengths.values())
        return held / (self.pages_in_use * self.page_size) if held else 0.0

    def length(self, seq):
        return self._lengths[self._known(seq)]

    def table(self, seq):
        return tuple(self._tables[self._known(seq)])

    def __contains__(self, seq):
        return seq in self._tables

    def _known(self, seq):
        if seq not in self._tables:
            raise KeyError(f"unknown sequence {seq!r}")
        return seq

    # -- life cycle ----------------------------------------------------------------------------
    def open(self, seq):
        if seq in self._tables:
            raise ValueError(f"sequence {seq!r} is already open")
        self._tables[seq], self._lengths[seq] = [], 0

    def close(self, seq):
        """Give back a sequence's pages. Closing twice raises KeyError."""
        self._known(seq)
        del self._lengths[seq]
        for page in reversed(self._tables.pop(seq)):
            self._release(page)

    def _take(self):
        if self._blank:
            page = self._blank.pop()
        else:
            page, _ = self._warm.popitem(last=False)
            del self._by_digest[self._digest_of.pop(page)]
        self._refs[page] = 1
        return page

    def _release(self, page):
        self._refs[page] -= 1
        if self._refs[page] == 0:
            if page in self._digest_of:
                self._warm[page] = None
            else:
                self._blank.append(page)

    def _seal(self, table):
        """The last page of a table has become full: register it, or replace it by its twin."""
        page = table[-1]
        digest = hashlib.blake2b(self.pool[page].tobytes(), digest_size=16).digest()
        twin = self._by_digest.get(digest)
        if twin is None:
            self._by_digest[digest], self._digest_of[page] = page, digest
            return
        if not np.array_equal(self.pool[twin], self.pool[page]):
            return                            # a collision: keep this page private
        self._refs[twin] += 1
        self._warm.pop(twin, None)
        table[-1] = twin
        self._release(page)

    # -- data ----------------------------------------------------------------------------------
    def pages_needed(self, seq, n):
        have = len(self._tables[self._known(seq)])
        return max(0, -(-(self._lengths[seq] + n) // self.page_size) - have)

    def extend(self, seq, k, v):
        """Append k, v of shape (kv_heads, n, head_dim); all or nothing."""
        n = k.shape[1]
        need = self.pages_needed(seq, n)
        if need > self.pages_free:
            raise OutOfPages(f"{need} pages needed, {self.pages_free} free")
        table, pos, done = self._tables[seq], self._lengths[seq], 0
        while done < n:
            at = pos % self.page_size
            if at == 0:
                table.append(self._take())
            m = min(self.page_size - at, n - done)
            self.pool[table[-1], 0, :, at:at + m] = k[:, done:done + m]
            self.pool[table[-1], 1, :, at:at + m] = v[:, done:done + m]
            pos, done = pos + m, done + m
            if pos % self.page_size == 0:
                self._seal(table)
        self._lengths[seq] = pos

    def gather(self, seq):
        """Contiguous copies k, v of shape (kv_heads, length, head_dim)."""
        n = self.length(seq)
        kv = self.pool[self._tables[seq]].transpose(1, 2, 0, 3, 4)
        kv = kv.reshape(2, kv.shape[1], -1, kv.shape[-1])[:, :, :n]
        return kv[0], kv[1]
