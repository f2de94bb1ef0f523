"""Growable per-layer KV storage, laid out (batch, slot, kv_head, head_dim) so that one token is one contiguous row."""
import numpy as np


class LayerStore:
    """K and V of one transformer layer.  Capacity doubles on demand, up to ``limit`` slots."""

    def __init__(self, batch, kv_heads, head_dim, limit, initial=16, dtype=np.float32):
        self.limit = limit
        shape = (batch, min(initial, limit), kv_heads, head_dim)
        self.keys = np.zeros(shape, dtype)
        self.values = np.zeros(shape, dtype)

    @property
    def capacity(self):
        return self.keys.shape[1]

    def ensure(self, slots):
        if slots > self.limit:
            raise OverflowError(f"{slots} cache slots requested, the limit is {self.limit}")
        if slots <= self.capacity:
            return
        extra = min(max(slots, 2 * self.capacity), self.limit) - self.capacity
        pad = ((0, 0), (0, extra), (0, 0), (0, 0))
        self.keys, self.values = np.pad(self.keys, pad), np.pad(self.values, pad)

    def scatter(self, rows, slots, k, v):
        """Write k[i], v[i] of shape (kv_heads, head_dim) at (rows[i], slots[i])."""
        self.keys[rows, slots] = k
        self.values[rows, slots] = v


class KVCache:
    """All layers of one batch, with one length per sequence."""

    def __init__(self, n_layers, batch, kv_heads, head_dim, limit, dtype=np.float32):
        self.layers = [LayerStore(batch, kv_heads, head_dim, limit, dtype=dtype) for _ in range(n_layers)]
        self.lengths = np.zeros(batch, dtype=np.intp)

    def ensure(self, slots):
        for layer in self.layers:
            layer.ensure(slots)

    def nbytes(self):
        return sum(s.keys.nbytes + s.values.nbytes for s in self.layers)

    def __len__(self):
        return int(self.lengths.max(initial=0))
