"""A submission's paged cache behind one face: sequences come, grow, are read, and go.

:class:`Pool` remembers what it fed, so that what comes back can be held against it.
"""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned, invoke
from judge_tui.checks.calling.guess import Guess
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.answers import State, cache_of, pair, part
from judge_tui.checks.tasks.kv.faces.axis_orders import answered, fits, from_wire, to_wire, wire_shape
from judge_tui.checks.tasks.kv.faces.twice import created
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.provenance import Token, provenance
from judge_tui.checks.tasks.kv.words.reference import attention
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD, FREE, RESERVE
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import relative_error

__all__ = ["Pool", "PoolSizes", "given_number", "names_it"]

Array = npt.NDArray[Any]
_ROLES = {role.name: role for role in roles.ROLES}
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


class Pool:
    """A paged cache.

    Args:
        worker: Where the submission is.
        bound: Part (``create``, ``append``, ``read``, …) → binding, with layouts.
        sizes: What it is made for.
        left: Tells the seconds that remain.

    Attributes:
        state: The cache.
        fed: Sequence → the keys and values that it was given, each (H, N, D).
        ids: Sequence → the number that the submission knows it by.
        tail: The largest magnitude that stood behind the tokens of a sequence that was read.
        prompts: Sequence → the ids of its tokens, where the cache is told of them; no two are alike unless
            a check hands them over.
    """

    def __init__(
        self, worker: Worker, bound: Mapping[str, Binding], sizes: PoolSizes, left: Callable[[], float]
    ) -> None:
        self.worker, self.bound, self.sizes, self.left = worker, bound, sizes, left
        self.state: State = None
        self.fed: dict[int, tuple[Array, Array]] = {}
        self.ids: dict[int, Any] = {}
        self.tail = 0.0
        self._log: deque[tuple[int, int, Array, Array]] = deque(maxlen=_LOG)
        self.prompts: dict[int, list[int]] = {}
        self._unused = itertools.count(1000)
        self._expected: set[int] = set()
        if "create" in bound:
            self.state = created(worker, bound, sizes.inputs(), budget=left())

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

    def inputs(self, sequence: int, tokens: int = 0, count: int = 0) -> dict[str, Any]:
        """All that a call may ask for."""
        stored = self.fed[sequence][0].shape[1] if sequence in self.fed else 0
        return {
            **self.sizes.inputs(), "cache": self.state, "sequence": self.ids.get(sequence, sequence),
            "rows": [self.ids.get(sequence, sequence)],
            "layer": 0, "position": stored, "length": stored + tokens, "count": count,
            "lengths": np.array([tokens]), "totals": np.array([stored + tokens]),
            "positions": np.array([stored]), "active": np.array([True]), "cache_k": None, "cache_v": None,
            "prompt": [], "token": 0,
        }  # fmt: skip

    def add(self, sequence: int, count: int = 0, prompt: Sequence[int] = ()) -> None:
        """Let a sequence come; one that comes with tokens does so with the first that it is fed.

        Args:
            sequence: Our number of it.
            count: The tokens that it will have.
            prompt: Their ids; some that no other sequence has, when left out.
        """
        empty = np.zeros((self.sizes.heads, 0, self.sizes.head_dim))
        self.prompts[sequence] = [*prompt] or [next(self._unused) for _ in range(count)]
        if self.comes_with_tokens:
            self._expected.add(sequence)
        elif "add" in self.bound:
            self._come(sequence, {**self.inputs(sequence, count=count), "prompt": self.prompts[sequence]})
        self.fed[sequence] = (empty, empty)

    def _come(self, sequence: int, inputs: Mapping[str, Any]) -> None:
        binding = self.bound["add"]
        returned = self.call(binding, inputs)
        self.state = cache_of(returned, binding, ADD, self.state)
        if names_it(binding):
            self.ids[sequence] = given_number(returned)

    def _come_with(self, sequence: int, k: Array, v: Array) -> None:
        """Let a sequence come with its first tokens, (H, T, D) each."""
        tokens, layout = k.shape[1], self.bound["add"].layout
        inputs = {**self.inputs(sequence, tokens, tokens), "prompt": self._ids(sequence, tokens)}
        inputs.update({name: to_wire(x[None], layout, self.sizes.layers) for name, x in (("k", k), ("v", v))})
        self._come(sequence, inputs)
        self._expected.discard(sequence)
        self.fed[sequence] = (k, v)
        self._log.extend((sequence, t, k[:, t], v[:, t]) for t in range(k.shape[1]))

    def append(self, sequence: int, k: Array, v: Array, *, whole: bool = True) -> None:
        """Feed tokens of one sequence: (H, T, D) each; in one call where that can be, else one by one."""
        if sequence in self._expected and k.shape[1]:
            first = k.shape[1] if whole else 1
            self._come_with(sequence, k[:, :first], v[:, :first])
            k, v = k[:, first:], v[:, first:]
        tokens = k.shape[1]
        many = self.bound.get("append_many")
        if tokens and many is not None and whole and (tokens > 1 or "append" not in self.bound):
            self._append(many, sequence, k, v)
            return
        for t in range(tokens):
            self._append(self.bound["append"], sequence, k[:, t : t + 1], v[:, t : t + 1])

    def _append(self, binding: Binding, sequence: int, k: Array, v: Array) -> None:
        self._told("reserve", RESERVE, sequence, k.shape[1])
        inputs = self.inputs(sequence, k.shape[1])
        layers = self.sizes.layers
        inputs.update(k=to_wire(k[None], binding.layout, layers), v=to_wire(v[None], binding.layout, layers))
        if binding.takes("token") or binding.takes("prompt"):
            ids = self._ids(sequence, k.shape[1])
            inputs.update(token=ids[0], prompt=ids)
        returned = self.call(binding, inputs)
        self.state = cache_of(returned, binding, _ROLES["append"], self.state)
        old = self.fed[sequence]
        self.fed[sequence] = (np.concatenate([old[0], k], 1), np.concatenate([old[1], v], 1))
        start = old[0].shape[1]
        self._log.extend((sequence, start + t, k[:, t], v[:, t]) for t in range(k.shape[1]))
        self._told("advance", _ROLES["advance"], sequence, k.shape[1])

    def _ids(self, sequence: int, tokens: int) -> list[int]:
        """The ids of the tokens that a sequence gets next."""
        known, stored = self.prompts.setdefault(sequence, []), self.fed[sequence][0].shape[1]
        while len(known) < stored + tokens:
            known.append(next(self._unused))
        return known[stored : stored + tokens]

    def _told(self, name: str, role: Role, sequence: int, tokens: int) -> None:
        """Tell the cache that tokens come, or that they are there, where it wants to be told."""
        if (binding := self.bound.get(name)) is not None:
            returned = self.call(binding, self.inputs(sequence, tokens, tokens))
            self.state = cache_of(returned, binding, role, self.state)

    def read(self, sequence: int) -> tuple[Array, Array]:
        """What comes back of a sequence: (H, N, D) each, float64."""
        binding = self.bound["read"]
        shape = (1, *self.fed[sequence][0].shape)
        returned = self.call(binding, self.inputs(sequence))
        found = pair(returned, _ROLES["read"])
        if found is None:
            raise BadResult(f"{binding.target} gives no keys and values")
        keys, values = (self._cut(handle, shape, binding.layout) for handle in found)
        return keys, values

    def holds(self, sequence: int, most: int) -> int:
        """How many written tokens are read back of a sequence that has just come, ``most`` at most."""
        binding = self.bound["read"]
        found = None
        with Guess(self.worker):
            found = pair(self.call(binding, self.inputs(sequence)), _ROLES["read"])
        if found is None or not (told := self.worker.describe(found[0]).get("shape")):
            return 0
        layout, sizes = binding.layout, self.sizes
        if len(told) != len(layout) or "N" not in layout:
            return 0
        shape = (1, sizes.heads, int(told[layout.index("N")]), sizes.head_dim)
        written = np.any(self._fetched(found[0], shape, layout)[0] != 0, axis=(0, 2))
        return min(int(np.append(written, False).argmin()), most)

    def _cut(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        """An array in (H, N, D); what stands behind the tokens, up to the end of a block, is cut off."""
        b, h, n, d = shape
        most = self.sizes.max_len
        told = self.worker.describe(handle).get("shape")
        if told and "N" in layout and len(told) == len(layout):
            full = int(told[layout.index("N")])
            if n < full and (full == -(-n // self.sizes.block_size) * self.sizes.block_size or full == most):
                whole = self._fetched(handle, (b, h, full, d), layout)[0]
                self.tail = max(self.tail, float(np.abs(np.nan_to_num(whole[:, n:], nan=1e9)).max()))
                return np.ascontiguousarray(whole[:, :n])
        return np.asarray(self._fetched(handle, shape, layout)[0])

    def _fetched(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        """An array of the first layer, (B, H, N, D)."""
        return from_wire(
            self.worker.fetch(handle, wire_shape(shape, layout, self.sizes.layers)), shape, layout
        )

    def attend(self, sequence: int, q: Array) -> Array:
        """Attend with one query: (H, 1, D) → the same, float64."""
        binding, (inputs, asked) = self.bound["attend"], self._asked(sequence, q)
        layout = binding.layout.replace("P", "B")
        returned = self.call(binding, {**inputs, "q": to_wire(asked, layout, self.sizes.layers)})
        shape = asked.shape
        handle = part(returned, _ROLES["attend"], "out", (len(layout), len(layout) - 1))
        if handle is None:
            raise BadResult(f"{binding.target} gives no output")
        told = tuple(self.worker.describe(handle).get("shape", ()))
        for other in answered(layout):
            if told == wire_shape(shape, other, self.sizes.layers) and fits(other, shape[0], 1):
                layout = other
                break
        return np.asarray(self._fetched(handle, shape, layout)[-1])

    def _asked(self, sequence: int, q: Array) -> tuple[dict[str, Any], Array]:
        """All that attention may ask for, and its queries, (B, H, 1, D): the last are the sequence's own."""
        return self.inputs(sequence), q[None]

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
        pairs = zip(self.read(sequence), (k, v), strict=True)
        return float(np.max([relative_error(got, fed.astype(float)) for got, fed in pairs]))

    def stands(self, sequence: int, limit: float) -> str:
        """What stands in the place of tokens of a sequence that are read back wrong; empty where none is."""
        if self.attends:
            return ""
        return provenance(self.read(sequence), self.fed[sequence], sequence, self._known(), limit)

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
        binding = self.bound["free"]
        returned = self.call(binding, self.inputs(sequence))
        self.state = cache_of(returned, binding, FREE, self.state)
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
            self.ids.pop(sequence, None)

    def twice(self, sequence: int) -> str:
        """Free a sequence that is gone; what was said to it, empty when nothing was."""
        with Guess(self.worker) as guess:
            self.call(self.bound["free"], self.inputs(sequence))
        return guess.fault.message if guess.fault else ""

    def call(self, binding: Binding, inputs: Mapping[str, Any]) -> Returned:
        """Call one of its parts, arrays as they are."""
        return invoke(self.worker, binding, inputs, budget=self.left(), wired=True)


def names_it(add: Binding) -> bool:
    """Whether a call that a sequence comes with gives what it is known by from then on."""
    return not add.takes("sequence") or "sequence" in add.returns


def given_number(returned: Returned) -> Handle:
    """What a call that was told of no number calls its sequence: its answer, or the first part of that.

    Where sequences are objects, the binding says that the answer is one.

    Raises:
        BadResult: It names none.
    """
    if returned.has("sequence"):
        return returned.handle("sequence")
    tree, handle = returned.result.tree, returned.result.handle
    if tree.get("kind") in ("tuple", "list") and tree.get("parts"):
        step, key, tree = tree["parts"][0]
        handle = handle.part((step, key))
    if tree.get("kind") not in ("int", "str", "scalar"):
        raise BadResult(f"{returned.binding.target} takes no number of a sequence and gives none")
    return handle
