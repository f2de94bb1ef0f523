# bug: reserving takes the page of the next token at a page's end; closing gives back the pages of tokens alone
# caught by: paged
# passes: isolation, cache_size_minimality, variable_lengths
"""kv arena: one slab, fixed-size pages, generation-checked handles.

Slab layout   (page, layer, 2, kv_head, slot, dim)   -- a page carries every layer, so one table serves them all.
Handle        generation << 16 | row                 -- a closed handle never comes back to life.
Protocol      reserve(h, n) -> write(h, layer, pos, k, v) for each layer -> commit(h, n)
"""
from __future__ import annotations

import numpy as np


class ArenaFull(MemoryError):
    """No page (or no row) left; the arena is as it was before the call."""


class StaleHandle(KeyError):
    """The handle was closed, or never opened."""


class KVArena:
    ROW_BITS = 16

    def __init__(self, n_pages: int, page: int, n_layers: int, n_kv: int, dim: int, *, rows: int = 32,
                 max_pages_per_row: int | None = None, dtype=np.float32) -> None:
        self.page, self.n_layers, self.n_kv, self.dim = page, n_layers, n_kv, dim
        self.slab = np.zeros((n_pages, n_layers, 2, n_kv, page, dim), dtype)
        self.table = np.full((rows, max_pages_per_row or n_pages), -1, np.int32)
        self.length = np.zeros(rows, np.int32)
        self.generation = np.zeros(rows, np.int64)
        self.live = np.zeros(rows, bool)
        self._free_pages = list(range(n_pages - 1, -1, -1))
        self._free_rows = list(range(rows - 1, -1, -1))

    # -- handles ---------------------------------------------------------------------------------------------------
    def open(self) -> int:
        if not self._free_rows:
            raise ArenaFull("no free row")
        row = self._free_rows.pop()
        self.live[row] = True
        self.length[row] = 0
        return int(self.generation[row]) << self.ROW_BITS | row

    def _row(self, handle: int) -> int:
        row, gen = handle & (1 << self.ROW_BITS) - 1, handle >> self.ROW_BITS
        if row >= len(self.live) or not self.live[row] or gen != self.generation[row]:
            raise StaleHandle(handle)
        return row

    def close(self, handle: int) -> None:
        """Give the pages of a sequence back."""
        row = self._row(handle)
        used = -(-int(self.length[row]) // self.page)
        self._free_pages.extend(int(p) for p in self.table[row, :used][::-1])
        self.table[row] = -1
        self.length[row] = 0
        self.live[row] = False
        self.generation[row] += 1
        self._free_rows.append(row)

    # -- space -----------------------------------------------------------------------------------------------------
    def reserve(self, handle: int, n: int) -> int:
        """Make room for n more tokens and return the position of the first.  All or nothing.

        The page of the token after them is taken along when one is to be had, which keeps the allocator off the
        latency path of the step that crosses a page boundary.
        """
        row = self._row(handle)
        start = int(self.length[row])
        must = -(-(start + n) // self.page)
        if must > self.table.shape[1]:
            raise ArenaFull(f"{start + n} tokens exceed {self.table.shape[1] * self.page} per sequence")
        missing = [i for i in range(start // self.page, must) if self.table[row, i] < 0]
        if len(missing) > len(self._free_pages):
            raise ArenaFull(f"need {len(missing)} pages, {len(self._free_pages)} free")
        ahead = (start + n) // self.page
        if ahead == must and ahead < self.table.shape[1] and self.table[row, ahead] < 0:
            missing.append(ahead)
        for i in missing:
            if self._free_pages:
                self.table[row, i] = self._free_pages.pop()
        return start

    def write(self, handle: int, layer: int, pos: int, k: np.ndarray, v: np.ndarray) -> None:
        """k, v: (n_kv, n, dim), to be the tokens pos .. pos+n-1 of one layer; the room has to be reserved."""
        row = self._row(handle)
        n = k.shape[1]
        if k.shape != (self.n_kv, n, self.dim) or v.shape != k.shape:
            raise ValueError(f"expected ({self.n_kv}, n, {self.dim}), got {k.shape} and {v.shape}")
        at = pos + np.arange(n)
        if n and (pos < self.length[row] or at[-1] // self.page >= self.table.shape[1]):
            raise IndexError("write outside of the reserved room")
        pages, slots = self.table[row, at // self.page], at % self.page
        if (pages < 0).any():
            raise IndexError("write outside of the reserved room")
        self.slab[pages, layer, 0, :, slots] = k.swapaxes(0, 1)
        self.slab[pages, layer, 1, :, slots] = v.swapaxes(0, 1)

    def commit(self, handle: int, n: int) -> None:
        self.length[self._row(handle)] += n

    def read(self, handle: int, layer: int, upto: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """(K, V) of one layer, contiguous copies (n_kv, S, dim).  `upto` may reach into reserved room."""
        row = self._row(handle)
        s = int(self.length[row]) if upto is None else upto
        pages = self.table[row, :-(-s // self.page)]
        kv = self.slab[pages, layer].transpose(1, 2, 0, 3, 4).reshape(2, self.n_kv, -1, self.dim)[:, :, :s]
        return kv[0], kv[1]

    # -- accounting ------------------------------------------------------------------------------------------------
    def pages_free(self) -> int:
        return len(self._free_pages)

    def utilization(self) -> float:
        taken = int((self.table >= 0).sum()) * self.page
        return float(self.length.sum()) / taken if taken else 1.0

    def bytes_per_token(self) -> int:
        return 2 * self.n_layers * self.n_kv * self.dim * self.slab.itemsize
