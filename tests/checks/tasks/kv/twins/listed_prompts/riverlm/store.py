"""Storage for one batch: a single tensor for every layer, K and V."""
import numpy as np


class ContextOverflow(RuntimeError):
    """A write would run past the context length. Nothing has been written."""


class LayerStore:
    """Array ``data[layer, 0|1, row, kv_head, position, dim]`` plus one fill per row.

    All layers of a forward pass write at the same positions, so the fill is
    moved once per pass (``commit``), after the last layer has written.
    """

    def __init__(self, spec, rows, dtype=np.float64):
        self.spec = spec
        self.data = np.zeros(
            (spec.depth, 2, rows, spec.kv_heads, spec.context, spec.head_dim), dtype
        )
        self.fill = np.zeros(rows, dtype=np.int64)

    @property
    def rows(self):
        return self.fill.shape[0]

    def plan(self, counts):
        """Check that ``counts[r]`` more tokens fit in each row; return start positions."""
        counts = np.asarray(counts)
        end = self.fill + counts
        if (end > self.spec.context).any():
            bad = int(np.argmax(end > self.spec.context))
            raise ContextOverflow(
                f"row {bad} holds {self.fill[bad]} tokens, {counts[bad]} more "
                f"exceed the context of {self.spec.context}"
            )
        return self.fill.copy()

    def write(self, layer, start, counts, k, v):
        """k, v: (rows, kv_heads, T, dim), right-padded; only ``counts[r]`` are kept."""
        for r, (s, n) in enumerate(zip(start, counts)):
            self.data[layer, 0, r, :, s:s + n] = k[r, :, :n]
            self.data[layer, 1, r, :, s:s + n] = v[r, :, :n]

    def span(self, layer, upto):
        """K and V of every row for positions [0, upto), as views."""
        return self.data[layer, 0, :, :, :upto], self.data[layer, 1, :, :, :upto]

    def commit(self, counts):
        self.fill = self.fill + np.asarray(counts)

    def read(self, layer, row):
        """(k, v) of one row, each (kv_heads, length, dim), as copies."""
        n = self.fill[row]
        k, v = self.data[layer, :, row, :, :n]
        return k.copy(), v.copy()
