"""Paged key/value storage for one attention layer, NumPy only.

The pool is one array ``pages[page, slot, kv_head, 2, dim]``: key and value of a token and head lie
side by side.  A sequence is a ticket (an int that is never handed out twice), a list of page
numbers and a length.  Every operation either completes or raises before it changes anything.
"""
from __future__ import annotations

import numpy as np


class OutOfPages(MemoryError):
    """The pool cannot hold what was asked for; nothing was written."""


class UnknownTicket(KeyError):
    """The ticket was never issued, or its sequence was closed."""


class PagedKV:
    def __init__(self, n_pages: int, page_size: int, kv_heads: int, dim: int, dtype=np.float64):
        self.pages = np.zeros((n_pages, page_size, kv_heads, 2, dim), dtype)
        self.page_size = page_size
        self._free = list(range(n_pages - 1, -1, -1))
        self._table: dict[int, list[int]] = {}
        self._length: dict[int, int] = {}
        self._next_ticket = 0

    # ------------------------------------------------------------------ life of a sequence
    def open(self) -> int:
        """Begin a sequence; costs no page until something is appended."""
        ticket, self._next_ticket = self._next_ticket, self._next_ticket + 1
        self._table[ticket], self._length[ticket] = [], 0
        return ticket

    def close(self, ticket: int) -> int:
        """Wipe and return the pages of a sequence; the number of pages that became free."""
        self._require(ticket)
        pages = self._table.pop(ticket)
        del self._length[ticket]
        self.pages[pages] = 0
        self._free.extend(reversed(pages))
        return len(pages)

    def _require(self, ticket: int) -> None:
        if ticket not in self._table:
            raise UnknownTicket(f"no open sequence with ticket {ticket!r}")

    # ------------------------------------------------------------------ write and read
    def append(self, ticket: int, k, v) -> int:
        """Append n tokens, k and v (n, kv_heads, dim) (or one token without n); new length."""
        self._require(ticket)
        k, v = np.asarray(k), np.asarray(v)
        if k.ndim == 2:
            k, v = k[None], v[None]
        if k.shape != v.shape or k.shape[1:] != (self.pages.shape[2], self.pages.shape[4]):
            raise ValueError(f"k {k.shape} and v {v.shape} do not fit {self.pages.shape}")
        table, start = self._table[ticket], self._length[ticket]
        stop = start + len(k)
        missing = -(-stop // self.page_size) - len(table)
        if missing > len(self._free):
            raise OutOfPages(f"{missing} pages wanted, {len(self._free)} free")
        for _ in range(missing):
            table.append(self._free.pop())
        page, slot = self._address(table, start, stop)
        self.pages[page, slot, :, 0] = k
        self.pages[page, slot, :, 1] = v
        self._length[ticket] = stop
        return stop

    def _address(self, table, start, stop):
        pos = np.arange(start, stop)
        return np.asarray(table, dtype=np.intp)[pos // self.page_size], pos % self.page_size

    def read(self, ticket: int):
        """Copies of the live part: k, v (length, kv_heads, dim)."""
        self._require(ticket)
        page, slot = self._address(self._table[ticket], 0, self._length[ticket])
        live = self.pages[page, slot]
        return live[:, :, 0], live[:, :, 1]

    # ------------------------------------------------------------------ accounting
    def length(self, ticket: int) -> int:
        self._require(ticket)
        return self._length[ticket]

    @property
    def nbytes(self) -> int:
        return self.pages.nbytes

    @property
    def free_pages(self) -> int:
        return len(self._free)

    def utilization(self) -> float:
        """Live tokens over the slots of all pages that are in use (1.0 for an idle pool)."""
        slots = sum(map(len, self._table.values())) * self.page_size
        return sum(self._length.values()) / slots if slots else 1.0
