"""What is common to caches of every kind: one was made, its roles are called, arrays go in and come out.

A batch that is fed together (:mod:`.cached`) and a pool whose sequences come and go (:mod:`.pool`) are both
told of their sequences, asked for room, advanced, changed in place or given anew.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.calls import Returned
from judge_tui.checks.calling.remote import Handle, Worker
from judge_tui.checks.contract import Role
from judge_tui.checks.faults import BadResult, Skipped
from judge_tui.checks.strides import HOWS, laid
from judge_tui.checks.tasks.kv.faces.answers import State, cache_of, pair, part
from judge_tui.checks.tasks.kv.faces.axis_orders import (
    answered,
    fits,
    from_wire,
    of_layer,
    packed,
    to_wire,
    unpacked,
    wire_shape,
)
from judge_tui.checks.tasks.kv.faces.twice import created, invoked
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.sequence_roles import ADD, RESERVE
from judge_tui.checks.tasks.kv.words.sizes import Sizes
from judge_tui.checks.tolerance import same_bits

__all__ = ["Store", "by_rows", "given_number", "names_it", "per_sequence"]

Array = npt.NDArray[Any]
#: Arrays of a list, of which three go into one call.
_LISTED = 20
#: The first id of a token: of the small ones a check makes its own prompts.
_FIRST_ID = 1000


class Store:
    """One cache (or one per sequence, where a cache holds a single one), and calls on it.

    Args:
        worker: Where the submission is.
        bound: Role → binding, with the layout of each.
        sizes: What the cache is made for.
        left: Tells the seconds that remain.
        counted: Whether the worker counts, from the making of the cache on.
        together: Layers that go in with one call, where an axis is theirs.
        alone: Whether a cache holds one sequence only.

    Attributes:
        states: The cache, or one per sequence.
        layer: Whose keys and values go in.
        last: The last call.
        touched: Of q, k and v, what a call has changed in place; looked for where it is a set.
        counters: What the worker counted in each call; asked for where it is a list.
        feeds_layers: Whether what comes in is of one layer of several; else a cache is made for one.
        names: Sequence → what the submission knows it by, where it gives names itself.
        prompts: Sequence → the ids of its tokens, where the cache is told of them; no two are alike unless
            a check hands them over.
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
        together: int = 1,
        alone: bool = False,
    ) -> None:
        self.worker, self.bound, self.sizes, self.left = worker, bound, sizes, left
        self.together, self.alone, self.layer = together, alone, 0
        feeding = bound.get("step") or bound.get("append") or bound.get("append_many")
        self.feeds_layers = feeding is not None and feeding.takes("layer")
        self.last: Returned | None = None
        self.touched: set[str] | None = None
        self.counters: list[Mapping[str, Any]] | None = [] if counted else None
        self.names: dict[int, Any] = {}
        self.prompts: dict[int, list[int]] = {}
        self.quiet = self.strided = False
        self._turns, self._ids = itertools.count(), itertools.count(_FIRST_ID)
        #: Sequences that come with the first of their tokens.
        self._expected: set[int] = set()
        self.states = [self._created() for _ in range(sizes.batch if alone else 1)]

    def length(self, b: int | None) -> npt.NDArray[np.int64]:
        """How many tokens a sequence holds, (1,), or each of all, (B,)."""
        raise NotImplementedError

    def took(self, b: int | None, k: Array, v: Array, counts: Array) -> None:
        """Count so many new tokens, (B, G, T, D) each, of a sequence, or of all."""
        raise NotImplementedError

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

    def state(self, b: int | None = None) -> State:
        """The cache, or that of a sequence."""
        return self.states[(b or 0) if self.alone else 0]

    def inputs(self, b: int | None, counts: Array, queries: int = 0) -> dict[str, Any]:
        """Everything that a call may ask for.

        Args:
            b: A sequence; all of them when left out.
            counts: Tokens that the call adds, to each.
            queries: That attend, and are the newest of what is stored.
        """
        stored, state, create = self.length(b), self.state(b), self.bound.get("create")
        totals, rows = stored + counts, range(len(stored)) if b is None else [b]
        inputs: dict[str, Any] = {
            **(self.sizes.inputs() if create is None else self._made_for(create)),
            "layer": self.layer, "sequence": 0 if b is None else self.names.get(b, b),
            "rows": [self.names.get(row, row) for row in rows],
            "lengths": counts, "totals": totals,
            "active": counts > 0, "positions": stored.copy(), "position": int(stored.max()) - queries,
            "length": int(totals.max()), "cache": state, "cache_k": None, "cache_v": None,
            "before": stored.copy(), "bounds": np.concatenate([[0], np.cumsum(counts)]),
        }  # fmt: skip
        if isinstance(state, tuple):
            inputs["cache_k"], inputs["cache_v"] = state[0], state[1]
        elif isinstance(state, Handle):
            inputs["cache_k"], inputs["cache_v"] = state.part(("i", 0)), state.part(("i", 1))
        if b is not None:
            ids = self._ids_of(b, int(stored[0]), int(counts[0]))
            inputs.update(prompt=ids, token=ids[0] if ids else 0)
        return inputs

    def _come(self, b: int, inputs: Mapping[str, Any]) -> None:
        """Tell a cache of a sequence; it may give it a name of its own."""
        binding = self.bound["add"]
        returned = self.did(binding, ADD, inputs, b)
        if names_it(binding):
            self.names[b] = given_number(returned)

    def come_with(self, b: int, k: Array, v: Array) -> None:
        """Tell a cache of a sequence that comes with its first tokens, whose ids no other has.

        Args:
            b: The sequence.
            k: (1, G, T, D).
            v: As k.
        """
        counts = np.array([k.shape[2]])
        arrays = self._arrays(self.bound["add"], counts, k=k, v=v)
        self._come(b, {**self.inputs(b, counts), "count": k.shape[2], **arrays})
        self._expected.discard(b)
        self.took(b, k, v, counts)

    def _ids_of(self, b: int, start: int, count: int) -> list[int]:
        """The ids of tokens of a sequence, which no other has."""
        known = self.prompts.setdefault(b, [])
        known += itertools.islice(self._ids, max(0, start + count - len(known)))
        return known[start : start + count]

    def did(self, binding: Binding, role: Role, inputs: Mapping[str, Any], b: int | None) -> Returned:
        """Call what may change the cache, of a sequence or of all."""
        returned, at = self.call(binding, inputs), (b or 0) if self.alone else 0
        self.states[at] = cache_of(returned, binding, role, self.states[at])
        return returned

    def told(self, binding: Binding, role: Role, more: Mapping[str, Any], b: int | None = None) -> Returned:
        """Call what feeds nothing and changes the cache.

        Args:
            binding: What is called.
            role: What it plays.
            more: What it may ask for beside what all calls may.
            b: Of which sequence it is told; of all of them, when left out.
        """
        nothing = np.zeros(len(self.length(b)), np.int64)
        return self.did(binding, role, {**self.inputs(b, nothing), **more}, b)

    def _put(self, binding: Binding, b: int | None, counts: Array, **arrays: Array) -> Returned:
        """One call that stores tokens, with room made before, and the step ended after it.

        Args:
            binding: The call.
            b: A sequence; all of them when left out.
            counts: Tokens of each.
            arrays: Keys and values, (B, G, T, D), and what else goes in beside them.
        """
        if (reserve := self.bound.get("reserve")) is not None:
            self.did(reserve, RESERVE, {**self.inputs(b, counts), **self._told_of(reserve, b, counts)}, b)
        inputs = {**self.inputs(b, counts), **self._arrays(binding, counts, **arrays)}
        # a pool's roles are the plain ones under names of their own
        role = roles.BY_NAME[binding.role.removeprefix("paged_")]
        returned = self.did(binding, role, inputs, b)
        self.took(b, arrays["k"], arrays["v"], counts)
        self._advanced("advance", b, counts)
        return returned

    def _told_of(self, binding: Binding, b: int | None, counts: Array) -> dict[str, Any]:
        """How many tokens come, or are there: of a sequence, or of all where it is told of all at once."""
        if b is not None and not (self.alone or by_rows(binding)):
            every = np.zeros(max(self.sizes.batch, b + 1), counts.dtype)
            every[b] = counts[0]
            counts = every
        return {"count": int(counts.max()), "lengths": counts, "active": counts > 0}

    def _advanced(self, role: str, b: int | None, counts: Array) -> None:
        """Tell a cache that counts by itself, and apart, that a step is over; it may give a new cache."""
        binding = self.bound.get(role)
        if binding is None or self.quiet:
            return
        if b is None and (self.alone or per_sequence(binding)):
            for row in range(self.sizes.batch):
                self._advanced(role, row, counts[row : row + 1])
            return
        self.told(binding, roles.BY_NAME[role], self._told_of(binding, b, counts), b)

    def read(self, binding: Binding, inputs: Mapping[str, Any]) -> tuple[Handle, Handle]:
        """Keys and values as a call gives them back.

        Raises:
            BadResult: It gives none.
        """
        if (found := pair(self.call(binding, inputs), roles.BY_NAME["read"])) is None:
            raise BadResult(f"{binding.target} gives no keys and values")
        return found

    def call(self, binding: Binding, inputs: Mapping[str, Any]) -> Returned:
        """Call one of its roles, arrays as they are; once, or for keys and values apart."""
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

    def _arrays(self, binding: Binding, counts: Array, **arrays: Array) -> dict[str, Any]:
        """(B, H, N, D) arrays as a call takes them."""
        return {name: self._to_wire(array, binding, counts) for name, array in arrays.items()}

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
