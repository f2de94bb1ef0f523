"""A pool whose blocks the caller chooses, behind the face of one that sees to its sequences itself.

:class:`ChosenPool` keeps the tables and the free list that the submission leaves to its caller.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import BadResult
from judge_tui.checks.tasks.kv.faces.axis_orders import wire_shape
from judge_tui.checks.tasks.kv.faces.block_tables import Held, chooses, scattered, told
from judge_tui.checks.tasks.kv.faces.pool import Pool, PoolSizes

__all__ = ["ChosenPool", "TooMany", "pool_of"]

Array = npt.NDArray[Any]
#: What says how many tokens of a sequence count.
_LENGTHS = ("length", "totals", "layer_totals")


class TooMany(BadResult):
    """More tokens came back than a call was told to read."""


def pool_of(
    worker: Worker, bound: Mapping[str, Binding], sizes: PoolSizes, left: Callable[[], float]
) -> Pool:
    """A pool by its parts; see :class:`~judge_tui.checks.tasks.kv.faces.pool.Pool`."""
    return (ChosenPool if chooses(bound) else Pool)(worker, bound, sizes, left)


class ChosenPool(Pool):
    """A pool whose blocks are handed out, and come back, here.

    The arguments are those of :class:`~judge_tui.checks.tasks.kv.faces.pool.Pool`.
    """

    def __init__(
        self, worker: Worker, bound: Mapping[str, Binding], sizes: PoolSizes, left: Callable[[], float]
    ) -> None:
        super().__init__(worker, bound, sizes, left)
        self._free = scattered(sizes.blocks)
        self._tables: dict[int, list[int]] = {}

    @property
    def frees(self) -> bool:
        """Sequences go whenever we let them."""
        return True

    def inputs(self, b: int | None, counts: Array, queries: int = 0) -> dict[str, Any]:
        """Everything that a call may ask for; see :meth:`Store.inputs`."""
        assert b is not None
        return {**super().inputs(b, counts, queries), **self._places([b], int(counts[0]))}

    def _places(self, sequences: Sequence[int], tokens: int = 0) -> dict[str, Any]:
        rows = [Held(self._tables.get(s, [0]), int(self.length(s)[0]), tokens) for s in sequences]
        # how many tokens of each are asked about: new ones as they go in, the newest as they attend
        return {**told(rows, self.sizes.block_size), "lengths": np.full(len(rows), tokens or 1),
                "bounds": np.arange(len(rows) + 1) * (tokens or 1)}  # fmt: skip

    def add(self, sequence: int, count: int = 0, prompt: Sequence[int] = ()) -> None:
        """Let a sequence come, which has no block yet."""
        self._tables[sequence] = []
        super().add(sequence, count, prompt)

    def _append(self, binding: Binding, sequence: int, k: Array, v: Array) -> None:
        table, size = self._tables[sequence], self.sizes.block_size
        while len(table) * size < self.length(sequence)[0] + k.shape[2]:
            table.append(self._free.pop(0))
        super()._append(binding, sequence, k, v)

    def free(self, sequence: int) -> None:
        """Let a sequence go; what it wrote stays where it is, and its blocks are handed out next."""
        self._free[:0] = reversed(self._tables.pop(sequence))
        self.fed.pop(sequence, None)

    def stored(self, sequence: int) -> tuple[Array, Array]:
        """What comes back of a sequence: (H, N, D) each, float64.

        Raises:
            TooMany: More than was asked for.
        """
        binding = self.bound["read"]
        if "B" not in binding.layout:
            return super().stored(sequence)
        rows = self._beside(sequence)
        found = self.read(binding, {**self.asked(sequence), **self._places(rows)})
        keys, values = (self._row(handle, rows, binding.layout) for handle in found)
        return keys, values

    def _row(self, handle: Handle, rows: Sequence[int], layout: str) -> Array:
        """The last of several sequences, (H, N, D); what stands behind its tokens is cut off."""
        lengths = [int(self.length(row)[0]) for row in rows]
        shape = (len(rows), self.sizes.heads, max(lengths), self.sizes.head_dim)
        n, whole = lengths[-1], self._from_wire(handle, shape, layout)[-1]
        self.tail = max(self.tail, float(np.abs(np.nan_to_num(whole[:, n:], nan=1e9)).max(initial=0.0)))
        return np.ascontiguousarray(whole[:, :n])

    def _cut(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        binding = self.bound["read"]
        if not any(binding.takes(name) for name in _LENGTHS):
            return super()._cut(handle, shape, layout)
        given = tuple(self.worker.describe(handle).get("shape", ()))
        b, h, n, d = shape
        many = given[layout.index("N")] if "N" in layout and len(given) == len(layout) else n
        if many > n and given == wire_shape((b, h, many, d), layout):
            raise TooMany(f"{binding.target} gives {many} tokens where it is told of {n}")
        return np.asarray(self._from_wire(handle, shape, layout)[0])

    def _asking(self, sequence: int, q: Array) -> tuple[dict[str, Any], Array]:
        if not {"B", "P"} & set(self.bound["attend"].layout):
            return super()._asking(sequence, q)
        rows = self._beside(sequence)
        queries = [np.ones_like(q)] * (len(rows) - 1) + [q]
        return {**self.asked(sequence), **self._places(rows)}, np.stack(queries)

    def _beside(self, sequence: int) -> list[int]:
        """A sequence as the last row of a call about several: one that is asked of the first row shows."""
        others = [other for other in self.fed if other != sequence and self.length(other)[0]]
        return [*others[:2], sequence]
