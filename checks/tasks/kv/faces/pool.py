"""A submission's paged cache behind one face: sequences come, grow, are read, and go.

:class:`Pool` remembers what it fed, so that what comes back can be held against it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.faults import Raised, Skipped
from judge_tui.checks.tasks.kv.faces.store import Store
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.provenance import Token, provenance
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.sequence_roles import FREE
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = ["Pool", "PoolSizes"]

Array = npt.NDArray[Any]
#: Tokens whose owners are remembered.
_LOG = 1500


@dataclass(frozen=True, slots=True)
class PoolSizes(Sizes):
    """What a paged cache is made for.

    Attributes:
        blocks: In the pool.
        block_size: Tokens of a block.
    """

    batch: int = 32
    heads: int = 2
    max_len: int = 96
    layers: int = 1
    blocks: int = 24
    block_size: int = 4

    def inputs(self) -> dict[str, Any]:
        """By canonical name."""
        return {
            **Sizes.inputs(self), "blocks": self.blocks, "block_size": self.block_size,
            "blocks_each": -(-self.max_len // self.block_size),
        }  # fmt: skip


class Pool(Store):
    """A paged cache.

    Args:
        worker: Where the submission is.
        bound: Part (``create``, ``append``, ``read``, …) → binding, with layouts.
        sizes: What it is made for.
        left: Tells the seconds that remain.

    Attributes:
        fed: Sequence → the keys and values that it was given, each (H, N, D).
        tail: The largest magnitude that stood behind the tokens of a sequence that was read.
    """

    sizes: PoolSizes

    def __init__(
        self, worker: Worker, bound: Mapping[str, Binding], sizes: PoolSizes, left: Callable[[], float]
    ) -> None:
        self.fed: dict[int, tuple[Array, Array]] = {}
        self.tail = 0.0
        self._log: deque[tuple[int, int, Array, Array]] = deque(maxlen=_LOG)
        super().__init__(worker, bound, sizes, left, together=sizes.layers)

    def length(self, b: int | None) -> npt.NDArray[np.int64]:
        """How many tokens a sequence holds, (1,), or each of all."""
        held = self.fed.values() if b is None else [self.fed[b]] if b in self.fed else []
        return np.array([k.shape[1] for k, _v in held] or [0], np.int64)

    def took(self, b: int | None, k: Array, v: Array, counts: Array) -> None:
        """Remember new tokens of a sequence, (1, H, T, D) each."""
        assert b is not None
        old, new = self.fed[b], (k[0], v[0])
        start = old[0].shape[1]
        self.fed[b] = (np.concatenate([old[0], new[0]], 1), np.concatenate([old[1], new[1]], 1))
        self._log.extend((b, start + t, new[0][:, t], new[1][:, t]) for t in range(int(counts[0])))

    @property
    def attends(self) -> bool:
        """Whether it is read by attention alone."""
        return "read" not in self.bound

    @property
    def frees(self) -> bool:
        """Whether sequences can go."""
        return "free" in self.bound

    @property
    def comes_with_tokens(self) -> bool:
        """Whether a sequence comes with the keys and values of its first tokens, and never without."""
        return "add" in self.bound and self.bound["add"].takes("k")

    @property
    def reserves(self) -> bool:
        """Whether a sequence is told how long it will be when it comes."""
        return "add" in self.bound and self.bound["add"].takes("count")

    def asked(self, sequence: int, **more: Any) -> dict[str, Any]:
        """All that a call that feeds nothing may ask for."""
        return {**self.inputs(sequence, np.zeros(1, np.int64)), "count": 0, **more}

    def add(self, sequence: int, count: int = 0, prompt: Sequence[int] = ()) -> None:
        """Let a sequence come; one that comes with tokens does so with the first that it is fed.

        Args:
            sequence: Our number of it.
            count: The tokens that it will have.
            prompt: Their ids; some that no other sequence has, when left out.
        """
        empty = np.zeros((self.sizes.heads, 0, self.sizes.head_dim))
        self.prompts[sequence] = [*prompt]
        ids = self._ids_of(sequence, 0, len(prompt) or count)
        if self.comes_with_tokens:
            self._expected.add(sequence)
        elif "add" in self.bound:
            self._come(sequence, self.asked(sequence, count=count, prompt=ids))
        self.fed[sequence] = (empty, empty)

    def append(self, sequence: int, k: Array, v: Array, *, whole: bool = True) -> None:
        """Feed tokens of one sequence: (H, T, D) each; in one call where that can be, else one by one."""
        k, v = k[None], v[None]
        if sequence in self._expected and k.shape[2]:
            first = k.shape[2] if whole else 1
            self.come_with(sequence, k[:, :, :first], v[:, :, :first])
            k, v = k[:, :, first:], v[:, :, first:]
        tokens = k.shape[2]
        many = self.bound.get("append_many")
        at_once = tokens and many is not None and whole and (tokens > 1 or "append" not in self.bound)
        for start in range(0, tokens, tokens if at_once else 1):
            piece = slice(start, None if at_once else start + 1)
            binding = many if at_once and many is not None else self.bound["append"]
            self._append(binding, sequence, k[:, :, piece], v[:, :, piece])

    def grow(self, rng: np.random.Generator, sequence: int, tokens: int = 1, *, whole: bool = False) -> None:
        """Feed random tokens of one sequence; one by one, unless they go in as a whole."""
        shape = (2, self.sizes.heads, tokens, self.sizes.head_dim)
        self.append(sequence, *rng.standard_normal(shape).astype(np.float32), whole=whole)

    def _append(self, binding: Binding, sequence: int, k: Array, v: Array) -> None:
        self._put(binding, sequence, np.array([k.shape[2]]), k=k, v=v)

    def stored(self, sequence: int) -> tuple[Array, Array]:
        """What comes back of a sequence: (H, N, D) each, float64."""
        binding = self.bound["read"]
        shape = (1, *self.fed[sequence][0].shape)
        keys, values = (
            self._cut(handle, shape, binding.layout) for handle in self.read(binding, self.asked(sequence))
        )
        return keys, values

    def holds(self, sequence: int, most: int) -> int:
        """How many written tokens are read back of a sequence that has just come, ``most`` at most."""
        binding, found = self.bound["read"], None
        with Guess(self.worker):
            found = self.read(binding, self.asked(sequence))
        if found is None or not (told := self.worker.describe(found[0]).get("shape")):
            return 0
        layout, sizes = binding.layout, self.sizes
        if len(told) != len(layout) or "N" not in layout:
            return 0
        shape = (1, sizes.heads, int(told[layout.index("N")]), sizes.head_dim)
        written = np.any(self._from_wire(found[0], shape, layout)[0] != 0, axis=(0, 2))
        return min(int(np.append(written, False).argmin()), most)

    def _cut(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        """An array in (H, N, D); what stands behind the tokens, up to the end of a block, is cut off."""
        b, h, n, d = shape
        most = self.sizes.max_len
        told = self.worker.describe(handle).get("shape")
        if told and "N" in layout and len(told) == len(layout):
            full = int(told[layout.index("N")])
            if n < full and (full == -(-n // self.sizes.block_size) * self.sizes.block_size or full == most):
                whole = self._from_wire(handle, (b, h, full, d), layout)[0]
                self.tail = max(self.tail, float(np.abs(np.nan_to_num(whole[:, n:], nan=1e9)).max()))
                return np.ascontiguousarray(whole[:, :n])
        return np.asarray(self._from_wire(handle, shape, layout)[0])

    def attend(self, sequence: int, q: Array) -> Array:
        """Attend with one query: (H, 1, D) → the same, float64."""
        binding, (inputs, asked) = self.bound["attend"], self._asking(sequence, q)
        binding = replace(binding, layout=binding.layout.replace("P", "B"))
        returned = self.call(binding, {**inputs, **self._arrays(binding, np.ones(len(asked), int), q=asked)})
        return np.asarray(
            self._fetched(returned, roles.BY_NAME["attend"], "out", asked.shape, binding.layout)[-1]
        )

    def _asking(self, sequence: int, q: Array) -> tuple[dict[str, Any], Array]:
        """All that attention may ask for, and its queries, (B, H, 1, D): the last are the sequence's own."""
        return self.asked(sequence), q[None]

    def off(self, sequence: int, q: Array | None = None) -> float:
        """How far off what comes back of a sequence is, relative, the worst of keys and values.

        Args:
            sequence: It has tokens.
            q: (H, 1, D), the query where attention is all that reads it; ones, when left out.
        """
        k, v = self.fed[sequence]
        if self.attends:
            asked = np.ones((self.sizes.heads, 1, self.sizes.head_dim), np.float32) if q is None else q
            truth = attention(asked[None], k[None], v[None])
            return relative_error(self.attend(sequence, asked)[None], truth)
        pairs = zip(self.stored(sequence), (k, v), strict=True)
        return float(np.max([relative_error(got, fed.astype(float)) for got, fed in pairs]))

    def stands(self, sequence: int, limit: float) -> str:
        """What stands in the place of tokens of a sequence that are read back wrong; empty where none is."""
        if self.attends:
            return ""
        return provenance(self.stored(sequence), self.fed[sequence], sequence, self._known(), limit)

    def _known(self) -> Iterator[Token]:
        """The tokens that were fed last, whoever got them."""
        for sequence, t, k, v in self._log:
            held = self.fed.get(sequence)
            there = held is not None and t < held[0].shape[1] and np.array_equal(held[0][:, t], k)
            yield sequence, t, there, k, v

    def free(self, sequence: int) -> None:
        """Let a sequence go.

        Raises:
            Skipped: Nothing frees one.
        """
        if "free" not in self.bound:
            raise Skipped("no call frees a sequence")
        if sequence in self._expected:
            self._expected.discard(sequence)
            self.fed.pop(sequence, None)
            return
        self.told(self.bound["free"], FREE, {}, sequence)
        self.fed.pop(sequence, None)

    def leave(self, *sequences: int) -> None:
        """Let sequences go; one that holds nothing may be unknown to a cache that nobody told of it."""
        for sequence in sequences:
            empty = self.fed[sequence][0].shape[1] == 0
            try:
                self.free(sequence)
            except Raised:
                if not empty:
                    raise
                self.fed.pop(sequence, None)
            self.names.pop(sequence, None)

    def twice(self, sequence: int) -> str:
        """Free a sequence that is gone; what was said to it, empty when nothing was."""
        with Guess(self.worker) as guess:
            self.call(self.bound["free"], self.asked(sequence))
        return guess.fault.message if guess.fault else ""
