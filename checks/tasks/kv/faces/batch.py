"""A batch in a cache: what each of its sequences holds, attended over and read back.

Attention is had of a call over the cache, or of plain attention over what the cache gives back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import Skipped
from judge_tui.checks.tasks.kv.faces.axis_orders import one_headed, to_wire
from judge_tui.checks.tasks.kv.faces.block_tables import chooses, of_rows
from judge_tui.checks.tasks.kv.faces.positions import STAND, padded, standing
from judge_tui.checks.tasks.kv.faces.store import Store, per_sequence
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.sequence_roles import FREE
from judge_tui.checks.tasks.kv.words.sizes import Sizes, mode

__all__ = ["Batch"]

Array = npt.NDArray[Any]


class Batch(Store):
    """The sequences of a batch in a cache, in the contract's (B, H, N, D).

    Args:
        worker: Where the submission is.
        bound: Role → binding, with the layout of each.
        sizes: What the cache is made for.
        left: Tells the seconds that remain.
        counted: Whether the worker counts, from the making of the cache on.
        goes: Tells of a guessed way of feeding whether a small call of it goes; all do, when left out.
        together: Layers that go in with one call, where an axis is theirs.

    Attributes:
        counts: (B,) tokens that were fed to each sequence.
    """

    def __init__(
        self,
        worker: Worker,
        bound: Mapping[str, Binding],
        sizes: Sizes,
        left: Callable[[], float],
        *,
        counted: bool = False,
        goes: Callable[[Way], bool] | None = None,
        together: int = 1,
    ) -> None:
        feeding = bound.get("step") or bound.get("append") or bound.get("append_many")
        if feeding is not None and one_headed(feeding.layout):
            sizes = replace(sizes, heads=1, query_heads=0)
        self.goes = goes
        # What gives everything back as it takes more in is read by that.
        self.mode = mode(bound) or "read"
        self.counts = np.zeros(sizes.batch, np.int64)
        self._pairs: list[tuple[Handle, Handle, str] | None] = []
        alone = feeding is not None and _holds_one(feeding)
        super().__init__(worker, bound, sizes, left, counted=counted, together=together, alone=alone)
        for b in range(sizes.batch):
            self.add(b)

    def length(self, b: int | None) -> npt.NDArray[np.int64]:
        """How many tokens a sequence holds, (1,), or each of all, (B,)."""
        return self.counts if b is None else self.counts[b : b + 1]

    def took(self, b: int | None, k: Array, v: Array, counts: Array) -> None:
        """Count so many new tokens of a sequence, or of all."""
        self.counts[slice(None) if b is None else slice(b, b + 1)] += counts

    def add(self, b: int) -> None:
        """Tell a cache of a sequence, where it has to be told; it may give it a name of its own."""
        if (binding := self.bound.get("add")) is None:
            return
        if binding.takes("k"):
            self._expected.add(b)
            return
        room, nothing = self.sizes.max_len, np.zeros(1, np.int64)
        self._come(b, {**self.inputs(b, nothing), "count": room, "prompt": self._ids_of(b, 0, room)})

    def free(self, b: int) -> None:
        """Let a sequence go; what it held is forgotten here as well."""
        self.counts[b] = 0
        self.prompts.pop(b, None)
        self.told(self.bound["free"], FREE, {}, b)

    def changed(self) -> None:
        """What was handed out is of before: rows were moved, copied or cut since."""
        self._pairs = []

    def inputs(self, b: int | None, counts: Array, queries: int = 0) -> dict[str, Any]:
        """Everything that a call may ask for; see :meth:`Store.inputs`."""
        inputs = super().inputs(b, counts, queries)
        if chooses(self.bound):
            # Where tokens lie in a pool is ours to say: one pool for all, or one for each sequence.
            sizes, first = (replace(self.sizes, batch=1), 0) if self.alone else (self.sizes, b or 0)
            stored = self.length(b).tolist()
            inputs.update(of_rows(sizes, stored, counts[: len(stored)].tolist(), first))
        return inputs

    @property
    def attends_again(self) -> bool:
        """Whether it can be asked once more with the newest queries; not when they were pending then."""
        return self.mode == "attend" and "advance_after" not in self.bound

    def attend(self, q: Array, b: int | None = None, counts: Array | None = None) -> Array:
        """Attend with queries of the tokens that were fed last, without feeding.

        Args:
            q: (B, H, T, D), or (1, H, T, D) of sequence ``b``.
            b: A sequence; all of them when left out.
            counts: How many rows of ``q`` are real, per sequence.
        """
        if self.mode == "read":
            return np.full(q.shape, np.nan)
        if self.mode == "attention":
            return self._by_plain_attention(q, b, counts)
        binding = self.bound["attend"]
        if b is None and (self.alone or per_sequence(binding)):
            rows = []
            for row in range(self.sizes.batch):
                n = int(counts[row]) if counts is not None else q.shape[2]
                answer = np.full((1, *q.shape[1:]), np.nan)
                if n:
                    answer[:, :, :n] = self.attend(q[row : row + 1, :, :n], row)
                rows.append(answer)
            return np.concatenate(rows)
        inputs, stored = self.inputs(b, np.zeros(q.shape[0], np.int64), q.shape[2]), self.length(b)
        new = np.full_like(stored, q.shape[2]) if counts is None else counts
        if binding.takes("row_positions") and len(set((stored - new).tolist())) > 1:
            raise Skipped(f"{binding.target} takes one position for the whole batch")
        stand = standing(stored, new, q.shape[2])
        # of the arrays, "positions" is what is stored, as elsewhere
        named = ("query_positions", "first_positions", "row_positions", "key_positions")
        inputs.update({name: stand[name] for name in named})
        inputs.update(lengths=new, bounds=np.concatenate([[0], np.cumsum(new)]))
        inputs["q"] = self._to_wire(q, binding, new)
        returned = self.call(binding, inputs)
        return self._fetched(returned, roles.BY_NAME["attend"], "out", q.shape, binding.layout, new)

    def _by_plain_attention(self, q: Array, b: int | None, counts: Array | None) -> Array:
        """The submission's own attention over what its cache gives back."""
        rows = list(range(self.sizes.batch)) if b is None else [b]
        new = dict(zip(rows, [q.shape[2]] * len(rows) if counts is None else counts.tolist(), strict=True))
        held = {row: self.stored(row) for row in rows if self.counts[row]}
        out = np.full(q.shape, np.nan)
        binding = self.bound["attention"]
        together = b is None and self._goes_together(binding, [(int(self.counts[r]), new[r]) for r in rows])
        for group in [rows] if together else [[row] for row in rows]:
            # A sequence by itself is asked for its real tokens alone, so that no padding has to be named.
            tokens = q.shape[2] if len(group) > 1 else new[group[0]]
            if not tokens or any(row not in held for row in group):
                continue
            place = [row if b is None else 0 for row in group]
            k, v = (padded([held[row][i] for row in group]) for i in (0, 1))
            dtype = self.sizes.dtype
            if 1 < tokens != k.shape[2] and not any(binding.takes(name) for name in STAND):
                raise Skipped("its attention takes no offset")
            inputs = {
                "q": self._to_wire(q[place, :, :tokens].astype(dtype), binding, self.counts[group]),
                "k": to_wire(k.astype(dtype), binding.layout),
                "v": to_wire(v.astype(dtype), binding.layout),
                "causal": tokens > 1,
                "scale": self.sizes.head_dim**-0.5,
                "head_dim": self.sizes.head_dim,
                **standing(self.counts[group], np.array([new[row] for row in group]), tokens),
            }
            shape = (len(group), q.shape[1], tokens, q.shape[3])
            returned = self.call(binding, inputs)
            out[place, :, :tokens] = self._fetched(
                returned, roles.BY_NAME["attention"], "out", shape, binding.layout
            )
        return out

    def _goes_together(self, binding: Binding, lengths: list[tuple[int, int]]) -> bool:
        """Whether one call is for all sequences; ``lengths`` are those stored, and the newest among them.

        Sequences of several lengths go in padded where a call is told of each of them how many of its keys
        are real, and where its queries stand, if there are several.
        """
        if "B" not in binding.layout or not all(stored for stored, _new in lengths):
            return False
        if len(set(lengths)) == 1:
            return True
        alone = all(new <= 1 for _stored, new in lengths)
        return binding.takes("totals") and (alone or binding.takes("query_positions"))

    def stored(self, b: int) -> tuple[Array, Array]:
        """Keys and values of one sequence as the cache gives them back.

        Returns:
            Two (1, G, S, D) arrays, float64, S being what was fed.
        """
        if "read" not in self.bound:
            if not self._pairs or self._pairs[0] is None:
                raise Skipped("the cache cannot be read back")
            k, v, layout = self._pairs[0]
            return self._read_pair(k, v, layout, b, int(self.counts.max()))
        binding = self.bound["read"]
        by_itself = "B" not in binding.layout or self.alone or per_sequence(binding)
        row = b if by_itself else None
        found = self.read(binding, self.inputs(row, np.zeros(len(self.length(row)), np.int64)))
        return self._read_pair(*found, binding.layout, b, int(self.counts[b]))

    def _read_pair(self, k: Handle, v: Handle, layout: str, b: int, longest: int) -> tuple[Array, Array]:
        n = int(self.counts[b])
        by_itself = self.alone or ("read" in self.bound and per_sequence(self.bound["read"]))
        arrays = []
        for handle in (k, v):
            batch = self.sizes.batch if "B" in layout and not by_itself else 1
            told = self.worker.describe(handle).get("shape")
            width = longest if "B" not in layout or by_itself else int(self.counts.max())
            # A whole buffer may come back: its spare slots are cut off.
            if told and "N" in layout and len(told) == len(layout) and n < told[layout.index("N")] <= 1 << 16:
                width = int(told[layout.index("N")])
            shape = (batch, self.sizes.heads, width, self.sizes.head_dim)
            whole = self._from_wire(handle, shape, layout)
            row = b if batch > 1 else 0
            arrays.append(whole[row : row + 1, :, :n])
        return arrays[0], arrays[1]


def _holds_one(binding: Binding) -> bool:
    """Whether a cache holds one sequence only: what goes in has no batch axis and names no sequence."""
    return not {"B", "P", "R"} & set(binding.layout) and not per_sequence(binding)
