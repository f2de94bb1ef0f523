# bug: when room is made, every row keeps as many tokens as the row that grows, and longer rows lose theirs
# caught by: variable_lengths
# passes: incremental_equals_full, chunked_prefill, memory_model, isolation
"""KvVector: a growable key/value store, std::vector manners.

Storage of one layer is two contiguous blocks

    K, V : [rows][kv_heads][capacity][head_dim]

with one size per row (row = sequence slot of the batch).  size <= capacity; appending beyond
the capacity relocates to a block of at least twice the size, so n appends cost O(n) amortised.
Reads hand out views of [0, size): no slot past the end is ever touched by the attention.
"""
import numpy as np


class KvVector:
    """K/V of one layer for a fixed number of rows."""

    def __init__(self, rows, kv_heads, head_dim, dtype=np.float32, initial_capacity=8):
        if min(rows, kv_heads, head_dim, initial_capacity) < 1:
            raise ValueError("all extents must be >= 1")
        self._rows = rows
        self._kv_heads = kv_heads
        self._head_dim = head_dim
        self._dtype = np.dtype(dtype)
        self._cap = initial_capacity
        self._size = np.zeros(rows, dtype=np.int64)
        self._k = self._allocate(initial_capacity)
        self._v = self._allocate(initial_capacity)

    # ---- observers ---------------------------------------------------------------------
    def rows(self):
        return self._rows

    def kv_heads(self):
        return self._kv_heads

    def head_dim(self):
        return self._head_dim

    def capacity(self):
        return self._cap

    def size(self, row):
        return int(self._size[self._check_row(row)])

    def keys(self, row):
        """View [kv_heads][size][head_dim]."""
        return self._k[self._check_row(row), :, :self._size[row]]

    def values(self, row):
        """View [kv_heads][size][head_dim]."""
        return self._v[self._check_row(row), :, :self._size[row]]

    def bytes_allocated(self):
        return self._k.nbytes + self._v.nbytes

    def bytes_used(self):
        return int(self._size.sum()) * 2 * self._kv_heads * self._head_dim * self._dtype.itemsize

    # ---- modifiers ---------------------------------------------------------------------
    def push_back(self, row, k, v):
        """Append one token to a row; k, v: [kv_heads][head_dim]."""
        self.append_range(row, np.asarray(k)[None], np.asarray(v)[None])

    def append_range(self, row, k, v):
        """Append n tokens to a row; k, v: [n][kv_heads][head_dim]."""
        self._check_row(row)
        k, v = np.asarray(k), np.asarray(v)
        want = (k.shape[0], self._kv_heads, self._head_dim)
        if k.shape != want or v.shape != want:
            raise ValueError(f"expected [n][{self._kv_heads}][{self._head_dim}], got {k.shape}, {v.shape}")
        begin = int(self._size[row])
        end = begin + k.shape[0]
        if end > self._cap:
            self._relocate(max(end, 2 * self._cap), begin)
        self._k[row, :, begin:end] = k.transpose(1, 0, 2)
        self._v[row, :, begin:end] = v.transpose(1, 0, 2)
        self._size[row] = end

    def clear(self, row):
        """Forget the tokens of a row; the memory stays."""
        self._size[self._check_row(row)] = 0

    def reserve(self, capacity):
        """Make room for `capacity` tokens per row in one step."""
        if capacity > self._cap:
            self._relocate(capacity, int(self._size.max()))

    def shrink_to_fit(self):
        """Give back what no row needs."""
        longest = max(1, int(self._size.max()))
        if longest < self._cap:
            self._relocate(longest, longest)

    # ---- internals ---------------------------------------------------------------------
    def _allocate(self, capacity):
        return np.zeros((self._rows, self._kv_heads, capacity, self._head_dim), dtype=self._dtype)

    def _relocate(self, capacity, live):
        """Move the first `live` slots of every row to a block of the new capacity."""
        k, v = self._allocate(capacity), self._allocate(capacity)
        k[:, :, :live] = self._k[:, :, :live]
        v[:, :, :live] = self._v[:, :, :live]
        self._k, self._v, self._cap = k, v, capacity

    def _check_row(self, row):
        if not 0 <= row < self._rows:
            raise IndexError(f"row {row} outside [0, {self._rows})")
        return row


class KvStore:
    """The layers of one model: a plain array of KvVector."""

    def __init__(self, layers, rows, kv_heads, head_dim, dtype=np.float32, initial_capacity=8):
        self._layers = [KvVector(rows, kv_heads, head_dim, dtype, initial_capacity)
                        for _ in range(layers)]

    def __getitem__(self, layer):
        return self._layers[layer]

    def __len__(self):
        return len(self._layers)

    def clear(self, row):
        for kv in self._layers:
            kv.clear(row)

    def reserve(self, capacity):
        for kv in self._layers:
            kv.reserve(capacity)

    def bytes_allocated(self):
        return sum(kv.bytes_allocated() for kv in self._layers)

    def bytes_used(self):
        return sum(kv.bytes_used() for kv in self._layers)
