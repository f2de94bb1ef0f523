# bug: tokens come for some rows of the batch; when room is made, only as many slots move as the longest of these has
# caught by: variable_lengths
# passes: cache_size_minimality, memory_model
"""Growing KV cache for batched autoregressive inference (NumPy only).

``KVCache`` holds, per layer, two arrays (batch, slots, kv_heads, head_dim).  Slots
are reserved geometrically: a cache starts small and doubles when a row outgrows it, so
that appending is amortised O(1) and no maximum length has to be known up front.
Rows (sequences) are independent: each has its own length, and any subset of rows
can be appended to, which is what continuous batching needs.
"""
from __future__ import annotations

from typing import Sequence

import numpy as np


class KVCache:
    """Per-layer key/value storage with amortised growth.

    Args:
        n_layers, batch, n_kv_heads, head_dim: shapes.
        dtype: storage type.
        reserve: slots per row allocated at the first write.
    """

    def __init__(self, n_layers: int, batch: int, n_kv_heads: int, head_dim: int,
                 dtype=np.float64, reserve: int = 8) -> None:
        if min(n_layers, batch, n_kv_heads, head_dim, reserve) < 1:
            raise ValueError("all sizes must be positive")
        self.n_layers, self.batch = n_layers, batch
        self.n_kv_heads, self.head_dim = n_kv_heads, head_dim
        self._reserve = reserve
        self._k = [np.empty((batch, 0, n_kv_heads, head_dim), dtype) for _ in range(n_layers)]
        self._v = [np.empty((batch, 0, n_kv_heads, head_dim), dtype) for _ in range(n_layers)]
        self._len = np.zeros((n_layers, batch), dtype=np.int64)

    # -- queries ---------------------------------------------------------------
    def lengths(self, layer: int = 0) -> np.ndarray:
        """Number of cached tokens per row (a copy)."""
        return self._len[layer].copy()

    def capacity(self, layer: int = 0) -> int:
        return self._k[layer].shape[1]

    def nbytes(self) -> int:
        return sum(k.nbytes + v.nbytes for k, v in zip(self._k, self._v))

    def get(self, layer: int, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and values of one row, (S, n_kv_heads, head_dim), as read-only views."""
        self._rows([row])
        n = self._len[layer, row]
        k, v = self._k[layer][row, :n], self._v[layer][row, :n]
        k.flags.writeable = v.flags.writeable = False
        return k, v

    # -- updates ---------------------------------------------------------------
    def append(self, layer: int, k: np.ndarray, v: np.ndarray,
               rows: Sequence[int] | None = None) -> None:
        """Append k, v of shape (len(rows), T, n_kv_heads, head_dim); T may be 1 or many."""
        rows = self._rows(range(self.batch) if rows is None else rows)
        want = (len(rows), k.shape[1], self.n_kv_heads, self.head_dim)
        if k.shape != want or v.shape != want:
            raise ValueError(f"expected {want}, got {k.shape} and {v.shape}")
        start = self._len[layer, rows]
        self._ensure(layer, used=int(start.max()), extra=k.shape[1])
        slots = start[:, None] + np.arange(k.shape[1])
        self._k[layer][rows[:, None], slots] = k
        self._v[layer][rows[:, None], slots] = v
        self._len[layer, rows] += k.shape[1]

    def reset(self, rows: Sequence[int] | None = None) -> None:
        """Forget rows (all by default), so that new sequences can take their place."""
        self._len[:, self._rows(range(self.batch) if rows is None else rows)] = 0

    # -- internals -------------------------------------------------------------
    def _rows(self, rows) -> np.ndarray:
        rows = np.asarray(list(rows), dtype=np.int64)
        if rows.size == 0 or rows.min() < 0 or rows.max() >= self.batch:
            raise IndexError(f"rows {rows.tolist()} outside of batch {self.batch}")
        if len(np.unique(rows)) != len(rows):
            raise ValueError("a row may be given once per call")
        return rows

    def _ensure(self, layer: int, used: int, extra: int) -> None:
        """Make room for ``used + extra`` slots; only slots in use are moved."""
        have, need = self.capacity(layer), used + extra
        if need <= have:
            return
        size = max(self._reserve, have)
        while size < need:
            size *= 2
        for store in (self._k, self._v):
            old = store[layer]
            new = np.zeros((self.batch, size, *old.shape[2:]), old.dtype)
            new[:, :used] = old[:, :used]
            store[layer] = new


def kv_bytes_per_token(n_layers: int, n_kv_heads: int, head_dim: int, itemsize: int = 2) -> int:
    """Bytes that one token of one sequence occupies over all layers (K and V)."""
    return 2 * n_layers * n_kv_heads * head_dim * itemsize
