# bug: where a sequence that gets many tokens overflows, growing copies as many slots as that one held; longer ones lose their end
# caught by: capacity
# passes: incremental_equals_full
"""KV storage for continuous batching: requests come and go, rows are reused.

``SlotCache`` owns one K and one V tensor per layer, ``(rows, capacity, kv_heads,
head_dim)``.  A request leases a row, fills it (prefill), extends it (decode) and
hands it back.  Capacity is not fixed: a layer's tensors are enlarged
geometrically when some row needs more space (optionally up to ``hard_limit``).
"""
from __future__ import annotations

from typing import Iterable, List, Optional, Tuple

import numpy as np


class NoFreeRow(RuntimeError):
    """All rows are leased."""


class RowNotLeased(KeyError):
    """The row was never leased or has been returned."""


class HardLimitExceeded(IndexError):
    """A row would grow beyond ``hard_limit`` tokens."""


class SlotCache:
    def __init__(self, num_layers: int, num_rows: int, num_kv_heads: int, head_dim: int, *,
                 capacity: int = 16, hard_limit: Optional[int] = None,
                 dtype: type = np.float32) -> None:
        if min(num_layers, num_rows, num_kv_heads, head_dim, capacity) < 1:
            raise ValueError("all sizes must be positive")
        if hard_limit is not None:
            capacity = min(capacity, hard_limit)
        self.num_layers = num_layers
        self.num_rows = num_rows
        self.num_kv_heads = num_kv_heads
        self.head_dim = head_dim
        self.hard_limit = hard_limit
        self.dtype = np.dtype(dtype)
        self._k: List[np.ndarray] = [self._blank(capacity) for _ in range(num_layers)]
        self._v: List[np.ndarray] = [self._blank(capacity) for _ in range(num_layers)]
        self._len = np.zeros((num_layers, num_rows), dtype=np.int64)
        self._leased = np.zeros(num_rows, dtype=bool)

    def _blank(self, capacity: int) -> np.ndarray:
        return np.zeros((self.num_rows, capacity, self.num_kv_heads, self.head_dim), self.dtype)

    # ------------------------------------------------------------------
    # Rows
    # ------------------------------------------------------------------
    def lease(self) -> int:
        """Reserve an empty row and return its index."""
        free = np.flatnonzero(~self._leased)
        if free.size == 0:
            raise NoFreeRow(f"all {self.num_rows} rows are leased")
        row = int(free[0])
        self._leased[row] = True
        self._len[:, row] = 0
        return row

    def give_back(self, row: int) -> None:
        """Return a row; its contents are forgotten."""
        self._check([row])
        self._leased[row] = False
        self._len[:, row] = 0
        for store in self._k + self._v:
            store[row] = 0

    def tokens_in(self, row: int, layer: int = 0) -> int:
        self._check([row])
        return int(self._len[layer, row])

    def capacity_of(self, layer: int) -> int:
        return self._k[layer].shape[1]

    @property
    def nbytes(self) -> int:
        return sum(a.nbytes for a in self._k + self._v)

    def _check(self, rows: Iterable[int]) -> np.ndarray:
        rows = np.asarray(list(rows), dtype=np.int64)
        for r in rows:
            if not 0 <= r < self.num_rows or not self._leased[r]:
                raise RowNotLeased(f"row {int(r)} is not leased")
        if len(np.unique(rows)) != len(rows):
            raise ValueError("a row appears twice in one call")
        return rows

    # ------------------------------------------------------------------
    # Storage
    # ------------------------------------------------------------------
    def _reserve(self, layer: int, rows: np.ndarray, extra: int) -> None:
        """Guarantee space for ``extra`` more tokens in each of ``rows``."""
        live = int(self._len[layer, rows].max())
        wanted = live + extra
        if self.hard_limit is not None and wanted > self.hard_limit:
            raise HardLimitExceeded(
                f"layer {layer}: {wanted} tokens wanted, hard_limit is {self.hard_limit}")
        old = self.capacity_of(layer)
        if wanted <= old:
            return
        capacity = max(wanted, old + old // 2 + 1)
        if self.hard_limit is not None:
            capacity = min(capacity, self.hard_limit)
        # Only the live prefix is worth copying; everything after it is unused.
        for store in (self._k, self._v):
            bigger = self._blank(capacity)
            bigger[:, :live] = store[layer][:, :live]
            store[layer] = bigger

    def append_many(self, layer: int, row: int, k: np.ndarray, v: np.ndarray) -> None:
        """Append a run of tokens to one row; ``k``/``v``: (T, kv_heads, head_dim)."""
        rows = self._check([row])
        expected = (len(k), self.num_kv_heads, self.head_dim)
        if k.shape != expected or v.shape != expected:
            raise ValueError(f"expected {expected}, got {k.shape} and {v.shape}")
        self._reserve(layer, rows, len(k))
        start = int(self._len[layer, row])
        self._k[layer][row, start:start + len(k)] = k
        self._v[layer][row, start:start + len(k)] = v
        self._len[layer, row] = start + len(k)

    def append_step(self, layer: int, rows: Iterable[int], k: np.ndarray, v: np.ndarray) -> None:
        """Append one token to each of ``rows``; ``k``/``v``: (len(rows), kv_heads, head_dim)."""
        rows = self._check(rows)
        expected = (len(rows), self.num_kv_heads, self.head_dim)
        if k.shape != expected or v.shape != expected:
            raise ValueError(f"expected {expected}, got {k.shape} and {v.shape}")
        if len(rows) == 0:
            return
        self._reserve(layer, rows, 1)
        at = self._len[layer, rows]
        self._k[layer][rows, at] = k
        self._v[layer][rows, at] = v
        self._len[layer, rows] += 1

    def read(self, layer: int, row: int) -> Tuple[np.ndarray, np.ndarray]:
        """Keys and values of a row, read-only views (tokens, kv_heads, head_dim)."""
        self._check([row])
        n = int(self._len[layer, row])
        k, v = self._k[layer][row, :n], self._v[layer][row, :n]
        k.flags.writeable = False
        v.flags.writeable = False
        return k, v

    def gather(self, layer: int, rows: Iterable[int]) -> Tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Padded batch of several rows: K, V (n, longest, kv_heads, head_dim) and lengths (n,)."""
        rows = self._check(rows)
        lengths = self._len[layer, rows]
        longest = int(lengths.max(initial=0))
        return self._k[layer][rows, :longest], self._v[layer][rows, :longest], lengths.copy()


# ----------------------------------------------------------------------
# Attention on top of the cache
# ----------------------------------------------------------------------
def _softmax(scores: np.ndarray) -> np.ndarray:
    scores = scores - scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def prefill_row(cache: SlotCache, layer: int, row: int, q: np.ndarray, k: np.ndarray,
                v: np.ndarray) -> np.ndarray:
    """Store a prompt piece in a row and attend causally; ``q``: (T, heads, head_dim).

    May be called several times for one prompt (chunked prefill): each piece
    sees everything that is already in the row.  Returns (T, heads, head_dim).
    """
    cache.append_many(layer, row, k, v)
    keys, values = cache.read(layer, row)
    t, heads, dim = q.shape
    if t == 0:
        return np.zeros_like(q)
    rep = heads // cache.num_kv_heads
    keys, values = keys.repeat(rep, axis=1), values.repeat(rep, axis=1)
    scores = np.einsum("thd,shd->hts", q, keys) / np.sqrt(dim)
    past = len(keys) - t
    future = np.arange(len(keys))[None, :] > past + np.arange(t)[:, None]
    scores[:, future] = -np.inf
    return np.einsum("hts,shd->thd", _softmax(scores), values).astype(q.dtype)


def decode_rows(cache: SlotCache, layer: int, rows: Iterable[int], q: np.ndarray,
                k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """One token for each of ``rows`` (any subset, any lengths); ``q``: (n, heads, head_dim)."""
    rows = list(rows)
    if not rows:
        return np.zeros_like(q)
    cache.append_step(layer, rows, k, v)
    keys, values, lengths = cache.gather(layer, rows)
    heads, dim = q.shape[1:]
    rep = heads // cache.num_kv_heads
    keys, values = keys.repeat(rep, axis=2), values.repeat(rep, axis=2)
    scores = np.einsum("nhd,nshd->nhs", q, keys) / np.sqrt(dim)
    stale = np.arange(keys.shape[1])[None, :] >= lengths[:, None]
    scores = np.where(stale[:, None, :], -np.inf, scores)
    return np.einsum("nhs,nshd->nhd", _softmax(scores), values).astype(q.dtype)
