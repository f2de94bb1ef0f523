"""A cache that was made, and single calls of what plays its roles: what goes in, what is fetched."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.strides import HOWS, laid
from judge_tui.checks.tasks.kv.faces.answers import State, cache_of, part
from judge_tui.checks.tasks.kv.faces.axis_orders import (
    answered,
    fits,
    from_wire,
    of_layer,
    one_headed,
    packed,
    to_wire,
    unpacked,
    wire_shape,
)
from judge_tui.checks.tasks.kv.faces.block_tables import chooses, of_rows
from judge_tui.checks.tasks.kv.faces.twice import created, invoked
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD, FREE
from judge_tui.checks.tasks.kv.words.sizes import Sizes, mode
from judge_tui.checks.tolerance import same_bits

__all__ = ["Opened", "by_rows", "per_sequence"]

Array = npt.NDArray[Any]
#: Arrays of a list, of which three go into one call.
_LISTED = 20
_APPEND_MANY = next(role for role in roles.ROLES if role.name == "append_many")
#: Roles beside which prompts are no call of their own, or are told otherwise.
_OTHERWISE = frozenset({"step_many", "advance", "advance_after", "reserve"})


class Opened:
    """One cache (or one per sequence, where a cache holds a single one), and calls on it.

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
        states: The cache, or one per sequence.
        last: The last call.
        touched: Of q, k and v, what a call has changed in place; looked for where it is a set.
        counters: What the worker counted in each call; asked for where it is a list.
        feeds_layers: Whether what comes in is of one layer of several; else a cache is made for one.
        names: Sequence → what the submission knows it by, where it gives names itself.
        quiet: Whether it is not told that a step is over: another layer of the step comes after this one.
        strided: Whether what comes in lies in memory in other orders, array by array.
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
        self.worker = worker
        self.together = together
        self.goes = goes
        self.bound = bound
        feeding = bound.get("step") or bound.get("append") or bound.get("append_many")
        if feeding is not None and one_headed(feeding.layout):
            sizes = replace(sizes, heads=1, query_heads=0)
        self.sizes = sizes
        self.left = left
        # What gives everything back as it takes more in is read by that.
        self.mode = mode(bound) or "read"
        self.layer = 0
        self.counts = np.zeros(sizes.batch, np.int64)
        self.last: Returned | None = None
        self.touched: set[str] | None = None
        self.counters: list[Mapping[str, Any]] | None = [] if counted else None
        self._pairs: list[tuple[Handle, Handle, str] | None] = []
        self.alone = feeding is not None and _holds_one(feeding)
        self.feeds_layers = feeding is not None and feeding.takes("layer")
        self.names: dict[int, Any] = {}
        self.quiet = False
        self.strided = False
        self._turns, self._ids = itertools.count(), itertools.count(1)
        #: Sequence → the ids of its tokens, where it is told of them; no two are alike.
        self._prompts: dict[int, list[int]] = {}
        #: Sequences that come with the first of their tokens.
        self._expected: set[int] = set()
        self.states = [self._created() for _ in range(sizes.batch if self.alone else 1)]
        for b in range(sizes.batch):
            self.add(b)

    def _created(self) -> State:
        create = self.bound.get("create")
        if create is None:
            return None
        counting = self.counters is not None
        inputs = self._made_for(create)
        return created(self.worker, self.bound, inputs, budget=self.left(), count=counting)

    def _made_for(self, create: Binding) -> dict[str, Any]:
        """The sizes that a cache is told when it is made, and every call that takes an object of them."""
        sizes = self.sizes
        # A cache of its own for a sequence has room, and blocks, for one.
        inputs = (replace(sizes, batch=1) if self.alone else sizes).inputs()
        if not create.takes("kv_heads"):
            # What holds keys and values and is told of one kind of head is told of theirs.
            inputs.update(heads=sizes.heads, embed=sizes.heads * sizes.head_dim)
        if not self.feeds_layers:
            inputs.update(layers=self.together)
        return inputs

    def add(self, b: int) -> None:
        """Tell a cache of a sequence, where it has to be told; it may give it a name of its own."""
        binding = self.bound.get("add")
        if binding is None:
            return
        if binding.takes("k"):
            self._expected.add(b)
            return
        more: dict[str, Any] = {"count": self.sizes.max_len}
        if binding.takes("prompt"):
            more |= {"prompt": self._ids_of(b, 0, self.sizes.max_len)}
        self._named(binding, self.told(binding, ADD, more, b), b)

    def come_with(self, b: int, k: Array, v: Array) -> None:
        """Tell a cache of a sequence that comes with its first tokens, whose ids no other has.

        Args:
            b: The sequence.
            k: (1, G, T, D).
            v: As k.
        """
        binding, tokens = self.bound["add"], k.shape[2]
        ids = self._ids_of(b, 0, tokens)
        wired = {name: self._to_wire(x, binding, np.array([tokens])) for name, x in (("k", k), ("v", v))}
        self._named(binding, self.told(binding, ADD, {"count": tokens, "prompt": ids, **wired}, b), b)
        self._expected.discard(b)
        self.counts[b] += tokens

    def _ids_of(self, b: int, start: int, count: int) -> list[int]:
        """The ids of tokens of a sequence, which no other has."""
        known = self._prompts.setdefault(b, [])
        known += itertools.islice(self._ids, max(0, start + count - len(known)))
        return known[start : start + count]

    def _named(self, binding: Binding, returned: Returned, b: int) -> None:
        """What a cache calls a sequence that has come, where it was not told."""
        if not binding.takes("sequence"):
            if returned.result.tree.get("kind") not in ("int", "str", "scalar"):
                raise BadResult(f"{binding.target} takes no number of a sequence and gives none")
            self.names[b] = returned.result.handle

    def free(self, b: int) -> None:
        """Let a sequence go; what it held is forgotten here as well."""
        self.counts[b] = 0
        self._prompts.pop(b, None)
        self.told(self.bound["free"], FREE, {}, b)

    def changed(self) -> None:
        """What was handed out is of before: rows were moved, copied or cut since."""
        self._pairs = []

    def told(self, binding: Binding, role: Role, more: Mapping[str, Any], b: int | None = None) -> Returned:
        """Call what feeds nothing and changes the cache.

        Args:
            binding: What is called.
            role: What it plays.
            more: What it may ask for beside what all calls may.
            b: Of which sequence it is told; of all of them, when left out.
        """
        at = b if self.alone and b is not None else 0
        nothing = np.zeros(self.sizes.batch if b is None else 1, np.int64)
        inputs = {**self._inputs(b, nothing, self.states[at], binding), **more}
        returned = self._invoked(binding, inputs)
        self.states[at] = cache_of(returned, binding, role, self.states[at])
        return returned

    @property
    def prompts_apart(self) -> bool:
        """Whether a call stores the prompt of one sequence, and all sequences step together, a token each.

        Attention over a prompt cannot be asked for then: what attends answers for the whole batch.
        """
        steps = {"fused": ("step",), "attend": ("append", "attend")}.get(self.mode, ())
        together = [self.bound[name] for name in steps if name in self.bound]
        many = self.bound.get("append_many")
        if self.alone or not together or len(together) != len(steps) or _OTHERWISE & set(self.bound):
            return False
        return (
            many is not None
            and per_sequence(many)
            and all("B" in c.layout and not {"N", "P"} & set(c.layout) and not by_rows(c) for c in together)
        )

    def prompts(self, k: Array, v: Array, counts: Array) -> None:
        """Store a prompt of each sequence by itself, where that is a call of its own.

        Args:
            k: (B, G, T, D).
            v: As k.
            counts: (B,) how many of the T tokens each sequence has.

        Raises:
            Fault: What the submission did.
        """
        binding = self.bound["append_many"]
        for b in map(int, np.flatnonzero(counts)):
            row, own = slice(b, b + 1), counts[b : b + 1]
            inputs = self._inputs(b, own, self.states[0], binding)
            for name, array in (("k", k), ("v", v)):
                inputs[name] = self._to_wire(array[row, :, : counts[b]], binding, own)
            returned = self._invoked(binding, inputs)
            self.states[0] = cache_of(returned, binding, _APPEND_MANY, self.states[0])
            self.counts[b] += counts[b]

    def beside(self, layer: int) -> Self:
        """Another layer of the same cache, with counts of its own."""
        other = copy.copy(self)
        other.layer, other.counts, other._pairs = layer, np.zeros(self.sizes.batch, np.int64), []
        return other

    def _inputs(
        self, b: int | None, counts: Array, state: State, binding: Binding, tokens: int = 0
    ) -> dict[str, Any]:
        """Everything that a call may ask for; ``counts`` are the tokens that the call adds."""
        stored = self.counts if b is None else self.counts[b : b + 1]
        totals, create = stored + counts, self.bound.get("create")
        inputs: dict[str, Any] = {
            **(self.sizes.inputs() if create is None else self._made_for(create)),
            "layer": self.layer, "sequence": 0 if b is None else self.names.get(b, b),
            "rows": [self.names.get(row, row) for row in (range(self.sizes.batch) if b is None else [b])],
            "lengths": counts, "totals": totals,
            "active": counts > 0, "positions": stored.copy(), "position": int(stored.max()) - tokens,
            "length": int(totals.max()), "cache": state, "cache_k": None, "cache_v": None,
            "before": stored.copy(), "bounds": np.concatenate([[0], np.cumsum(counts)]),
        }  # fmt: skip
        if binding.takes("cache_k") or binding.on == "cache_k":
            if isinstance(state, tuple):
                inputs["cache_k"], inputs["cache_v"] = state[0], state[1]
            elif isinstance(state, Handle):
                inputs["cache_k"], inputs["cache_v"] = state.part(("i", 0)), state.part(("i", 1))
        if b is not None and (binding.takes("prompt") or binding.takes("token")):
            ids = self._ids_of(b, int(stored[0]), int(counts[0]))
            inputs.update(prompt=ids, token=ids[0] if ids else 0)
        if chooses({binding.role: binding}):
            # Where tokens lie in a pool is ours to say: one pool for all, or one for each sequence.
            sizes, first = (replace(self.sizes, batch=1), 0) if self.alone else (self.sizes, b or 0)
            inputs.update(of_rows(sizes, stored.tolist(), counts[: len(stored)].tolist(), first))
        return inputs

    def _invoked(self, binding: Binding, inputs: dict[str, Any]) -> Returned:
        counting = self.counters is not None
        self.last = invoked(self.worker, binding, inputs, budget=self.left(), count=counting, wired=True)
        if self.counters is not None:
            self.counters.append(self.last.result.counters)
        if self.touched is not None:
            for name in ("q", "k", "v"):
                if name in self.last.given and self._changed(self.last.given[name], inputs[name]):
                    self.touched.add(name)
        return self.last

    def _changed(self, handle: Handle, sent: Any) -> bool:
        if not isinstance(sent, np.ndarray):
            return False
        sent = np.ascontiguousarray(sent)
        return not same_bits(self.worker.fetch(handle, sent.shape, sent.dtype), sent)

    def _fetched(
        self,
        returned: Returned,
        role: Any,
        name: str,
        shape: tuple[int, ...],
        layout: str,
        counts: Array | None = None,
    ) -> Array:
        if "P" in layout and counts is not None:
            together = (1, shape[1], int(counts.sum()), shape[3])
            whole = self._fetched(returned, role, name, together, layout.replace("P", "N"))
            return unpacked(whole, counts, shape[2])
        if "R" in layout and counts is not None:
            return self._listed(returned, role, name, shape, layout, counts)
        handle = part(returned, role, name, (len(layout), len(layout) - 1))
        if handle is None:
            raise BadResult(f"{returned.binding.target} gives no {name}")
        told = tuple(self.worker.describe(handle).get("shape", ()))
        # Heads may come back joined, and a single token without its axis.
        for other in answered(layout):
            if told == wire_shape(shape, other, self.together) and fits(other, shape[0], shape[2]):
                layout = other
                break
        return self._from_wire(handle, shape, layout)

    def _listed(
        self, returned: Returned, role: Any, name: str, shape: tuple[int, ...], layout: str, counts: Array
    ) -> Array:
        """What came in a list, one array for each sequence; or in one array, where all are as long."""
        handle, alone = part(returned, role, name, ()), layout.replace("R", "")
        parts = self.worker.describe(handle).get("parts", ()) if handle is not None else ()
        if len(parts) != len(counts) or handle is None:
            return self._fetched(returned, role, name, shape, layout.replace("R", "B"))
        out = np.full(shape, np.nan)
        for b, ((step, key, _below), n) in enumerate(zip(parts, counts.tolist(), strict=True)):
            own = (1, shape[1], n, shape[3])
            out[b : b + 1, :, :n] = self._from_wire(handle.part((step, key)), own, alone)
        return out

    def _to_wire(self, array: Array, binding: Binding, counts: Array) -> Array | list[Array]:
        """A (B, H, N, D) array as a call takes it: of this layer, or of all that go in together."""
        if "R" in binding.layout:
            if len(counts) > _LISTED:
                raise Skipped(f"a list of {len(counts)} arrays is more than is handed over")
            alone = replace(binding, layout=binding.layout.replace("R", ""))
            rows = ((array[b : b + 1, :, :n], counts[b : b + 1]) for b, n in enumerate(counts.tolist()))
            return [self._laid(row, alone, count) for row, count in rows]
        return self._laid(array, binding, counts)

    def _laid(self, array: Array, binding: Binding, counts: Array) -> Array:
        wired = self._ordered(array, binding, counts)
        return laid(wired, HOWS[next(self._turns) % len(HOWS)]) if self.strided else wired

    def _ordered(self, array: Array, binding: Binding, counts: Array) -> Array:
        if "L" in binding.layout:
            return to_wire(array, binding.layout, self.together)
        own = of_layer(array, self.layer) if self.together > 1 else array
        if "P" in binding.layout:
            return to_wire(packed(own, counts), binding.layout.replace("P", "N"))
        return to_wire(own, binding.layout)

    def _from_wire(self, handle: Handle, shape: tuple[int, ...], layout: str) -> Array:
        """An array of this layer, (B, H, N, D), float64."""
        fetched = self.worker.fetch(handle, wire_shape(shape, layout, self.together))
        return from_wire(fetched, shape, layout, self.layer)


def per_sequence(binding: Binding) -> bool:
    """Whether a call names the sequence that it is for."""
    return binding.takes("sequence")


def by_rows(binding: Binding) -> bool:
    """Whether a call may be for one of the sequences alone, or for several of them."""
    return per_sequence(binding) or binding.takes("rows")


def _holds_one(binding: Binding) -> bool:
    """Whether a cache holds one sequence only: what goes in has no batch axis and names no sequence."""
    return not {"B", "P", "R"} & set(binding.layout) and not per_sequence(binding)
