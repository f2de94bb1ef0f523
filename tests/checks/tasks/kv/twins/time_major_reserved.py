# style: the time axis is in front; room is reserved for the whole batch before rows are written, and counted after
# passes: variable_lengths, isolation, cache_size_minimality, capacity, growth
# only: variable_lengths, isolation, cache_size_minimality, capacity, growth
"""Time-major key/value store for batched autoregressive decoding.

One buffer per layer with the *time axis first*:

    buf[layer].shape == (capacity, 2, batch, kv_heads, head_dim)

Time-major order means that enlarging the cache is a prefix-preserving operation on contiguous memory, so a
geometric growth step is a single ``np.resize`` and never has to look at individual sequences.
Slots at or beyond ``lengths[b]`` hold unspecified values: readers must mask them.
"""
from __future__ import annotations

import numpy as np


class CacheFull(RuntimeError):
    """Raised before anything is written when a sequence would exceed ``limit`` tokens."""


class TimeMajorCache:
    def __init__(self, layers: int, batch: int, kv_heads: int, head_dim: int, *, limit: int = 2048,
                 initial: int = 8, dtype=np.float32):
        if min(layers, batch, kv_heads, head_dim, limit, initial) < 1:
            raise ValueError("all cache dimensions must be positive")
        self.limit = limit
        cap = min(initial, limit)
        self.buf = [np.zeros((cap, 2, batch, kv_heads, head_dim), dtype) for _ in range(layers)]
        self.lengths = np.zeros(batch, dtype=np.int64)

    @property
    def capacity(self) -> int:
        return self.buf[0].shape[0]

    def reserve(self, counts: np.ndarray) -> None:
        """Make room for ``counts[b]`` more tokens of sequence b (all layers); no visible state changes."""
        need = int((self.lengths + counts).max())
        if need > self.limit:
            b = int((self.lengths + counts).argmax())
            raise CacheFull(f"sequence {b}: {need} tokens exceed the limit of {self.limit}")
        if need > self.capacity:
            cap = min(max(need, 2 * self.capacity), self.limit)
            self.buf = [np.resize(old, (cap,) + old.shape[1:]) for old in self.buf]

    def write(self, layer: int, t: np.ndarray, b: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
        """Scatter packed rows: k, v are (N, kv_heads, head_dim); row i goes to time t[i] of sequence b[i]."""
        self.buf[layer][t, 0, b] = k
        self.buf[layer][t, 1, b] = v

    def advance(self, counts: np.ndarray) -> None:
        self.lengths = self.lengths + counts

    def view(self, layer: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Zero-copy (upto, batch, kv_heads, head_dim) views of keys and values."""
        kv = self.buf[layer][:upto]
        return kv[:, 0], kv[:, 1]

    def read(self, layer: int, b: int) -> tuple[np.ndarray, np.ndarray]:
        """Exactly the live tokens of one sequence, (lengths[b], kv_heads, head_dim) each."""
        n = int(self.lengths[b])
        return self.buf[layer][:n, 0, b], self.buf[layer][:n, 1, b]

    def nbytes(self, used_only: bool = False) -> int:
        if not used_only:
            return sum(x.nbytes for x in self.buf)
        _, two, _, g, d = self.buf[0].shape
        return int(self.lengths.sum()) * two * g * d * self.buf[0].itemsize * len(self.buf)
