"""A submission's cache and attention behind one face: open, feed tokens, read back.

Caches are fed by batch, by sequence or by token, fused with attention or apart, and are changed in
place or returned. :class:`Cached` speaks to all of them, in the contract's (B, H, N, D).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.calling.remote import Handle
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.answers import State, cache_of, pair
from judge_tui.checks.tasks.kv.faces.axis_orders import to_wire
from judge_tui.checks.tasks.kv.faces.opened import Opened, by_rows, per_sequence
from judge_tui.checks.tasks.kv.faces.positions import STAND, padded, standing
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.words import roles
from judge_tui.checks.tasks.kv.words.sequence_roles import RESERVE
from judge_tui.checks.tasks.kv.words.sizes import Sizes

__all__ = ["BY_ITSELF", "LISTS", "PROMPTS", "TICKS", "Cached", "Sizes"]

#: How lengths differ where a call is for one sequence.
BY_ITSELF = "one sequence at a time"
#: How lengths differ where prompts go in sequence by sequence, and all sequences step together.
PROMPTS = "prompts one by one, steps together"
#: How they differ where several tokens of all sequences go in as a list, and all sequences step together.
LISTS = "an array for each sequence, steps together"
#: What tells a cache that a step is over: before attention, or after it.
TICKS = ("advance", "advance_after")

Array = npt.NDArray[Any]
_ROLES = {role.name: role for role in roles.ROLES}


class Cached(Opened):
    """A cache being fed, attended with and read back, in the contract's (B, H, N, D).

    The arguments are those of :class:`~judge_tui.checks.tasks.kv.faces.opened.Opened`.
    """

    @property
    def has_layers(self) -> bool:
        """Whether one cache holds several layers."""
        # A cache whose layers go in step counts what all of them hold, and is fed as one that has one.
        apart = bool(self._ticks) or "reserve" in self.bound
        return self.feeds_layers and not apart and not self.counts_by_last_layer

    @property
    def counts_by_last_layer(self) -> bool:
        """Whether its length moves with the last layer that appends; made of one layer, with every call."""
        return "create" in self.bound and self.bound["create"].takes("one_layer")

    def in_step(self) -> list[Self]:
        """All layers of an empty cache, to be fed in this order, one call each: the last one advances it."""
        layers = [self.beside(layer) for layer in range(self.sizes.layers)]
        for layer in layers[:-1]:
            layer.quiet = True
        return layers

    @property
    def attends_again(self) -> bool:
        """Whether it can be asked once more with the newest queries; not when they were pending then."""
        return self.mode == "attend" and "advance_after" not in self.bound

    @property
    def can_feed_many(self) -> bool:
        """Whether several tokens go in with one call."""
        if self.mode == "attend" and not {"N", "P"} & set(self.bound["attend"].layout):
            return False
        return ("step_many" if self.mode == "fused" else "append_many") in self.bound

    def ragged_by(self) -> str:
        """How sequences of one batch may get different numbers of tokens; empty when they cannot."""
        feeding = [self.bound[r] for r in ("step", "step_many", "append", "append_many") if r in self.bound]
        if self.alone or all(by_rows(b) for b in (*feeding, *self._ticks)):
            return BY_ITSELF
        if not all(_told_apart(tick, "lengths", "active") for tick in self._ticks):
            return ""
        for name in ("lengths", "totals", "active", "positions", "bounds"):
            if any(b.takes(name) for b in (*feeding, *self._ticks)):
                return name
        if self.prompts_apart:
            return PROMPTS
        many = self.bound.get("step_many" if self.mode == "fused" else "append_many")
        if many is not None and "R" in many.layout:
            return LISTS
        return PROMPTS if many is not None and per_sequence(many) else ""

    def feed(self, q: Array, k: Array, v: Array, counts: Array | None = None, *, whole: bool = True) -> Array:
        """Append tokens and attend with their queries.

        Args:
            q: (B, H, T, D); ignored by caches without attention, whose answer is NaN.
            k: (B, G, T, D).
            v: As k.
            counts: (B,) how many of the T tokens each sequence has; the rest is padding. All, when left out.
            whole: Hand over all tokens in one call where the submission can; else one by one.

        Returns:
            (B, H, T, D), float64; NaN beyond a sequence's count.

        Raises:
            Fault: What the submission did.
        """
        tokens = k.shape[2]
        counts = (
            np.full(self.sizes.batch, tokens, np.int64) if counts is None else np.asarray(counts, np.int64)
        )
        out = np.full(q.shape, np.nan)
        if tokens == 0:
            return out
        if tokens > 1 and self.prompts_apart and len(set(counts.tolist())) > 1:
            self.prompts(k, v, counts)
            return out
        if tokens > 1 and not (whole and self.can_feed_many and self._at_once(counts, tokens)):
            for t in range(tokens):
                piece = slice(t, t + 1)
                out[:, :, piece] = self.feed(
                    q[:, :, piece], k[:, :, piece], v[:, :, piece], (counts > t).astype(np.int64)
                )
            return out
        binding = self._feeding(tokens)
        some = by_rows(binding) and len(set(counts.tolist())) > 1
        if self.alone or per_sequence(binding) or some:
            for b in range(self.sizes.batch):
                n = int(counts[b])
                if n == 0:
                    continue
                row = slice(b, b + 1)
                out[row, :, :n] = self._one(
                    binding, q[row, :, :n], k[row, :, :n], v[row, :, :n], np.array([n]), b
                )
        else:
            out[...] = self._one(binding, q, k, v, counts, None)
            for b in range(self.sizes.batch):
                out[b, :, counts[b] :] = np.nan
        return out

    def _at_once(self, counts: Array, tokens: int) -> bool:
        binding = self._feeding(tokens)
        if self.alone or by_rows(binding) or "R" in binding.layout or bool(np.all(counts == tokens)):
            return True
        if not all(_told_apart(tick, "lengths") for tick in self._ticks):
            return False
        names = ("lengths", "totals", "bounds")
        return any(call.takes(name) for call in (binding, *self._ticks) for name in names)

    def _feeding(self, tokens: int) -> Binding:
        one, many = ("step", "step_many") if self.mode == "fused" else ("append", "append_many")
        for name in (many, one) if tokens > 1 or one not in self.bound else (one, many):
            if name in self.bound:
                return self.bound[name]
        raise BadResult("the cache cannot be fed")

    def _one(self, binding: Binding, q: Array, k: Array, v: Array, counts: Array, b: int | None) -> Array:
        """One call that appends, and the attention after it.

        Raises:
            Skipped: It raised, or answered in another shape, in a way of feeding that was guessed, and
                that does not go when small either.
        """
        stored = self.counts if b is None else self.counts[b : b + 1]
        ragged = len(set(counts.tolist())) > 1
        way = Way(k.shape[2] > 1, bool(stored.any()), ragged, self.sizes.dtype)
        try:
            return self._fed(binding, q, k, v, counts, b)
        except (Raised, BadResult) as fault:
            if self.goes is None or way.settled or binding.origin != "found" or self.goes(way):
                raise
            raise Skipped(f"{binding.target} {fault.placed}: nothing shows that it takes {way}") from fault

    def _fed(self, binding: Binding, q: Array, k: Array, v: Array, counts: Array, b: int | None) -> Array:
        state = self.states[b or 0] if self.alone else self.states[0]
        tokens = k.shape[2]
        if b is not None and b in self._expected:
            if self.mode == "fused":
                raise Skipped(f"{self.bound['add'].target} takes the first tokens, and attends over none")
            self.come_with(b, k, v)
            return self.attend(q, b, counts)
        _only_what_can_be_said(binding, [] if self.alone else self._ticks, counts, tokens)
        if b is None and len(set(self.counts.tolist())) > 1 and _one_position(binding):
            raise Skipped(f"{binding.target} takes one position for the whole batch")
        state = self._with_room(b, counts, state)
        inputs = self._inputs(b, counts, state, binding)
        inputs.update(k=self._to_wire(k, binding, counts), v=self._to_wire(v, binding, counts))
        if self.mode == "fused":
            inputs["q"] = self._to_wire(q, binding, counts)
        returned = self._invoked(binding, inputs)
        role = _ROLES[binding.role]
        state = cache_of(returned, binding, role, state)
        self.states[b or 0 if self.alone else 0] = state
        if b is None:
            self.counts += counts
        else:
            self.counts[b] += counts[0]
        self._advanced("advance", b, counts)
        if self.mode == "fused":
            return self._fetched(returned, role, "out", q.shape, binding.layout, counts)
        if "P" not in binding.layout and (found := pair(returned, role)):
            self._pairs = [(*found, binding.layout)]
        else:
            self._pairs = []
        out = self.attend(q, b, counts)
        self._advanced("advance_after", b, counts)
        return out

    def _with_room(self, b: int | None, counts: Array, state: State) -> State:
        """Have room made for tokens before they are written, where that is a call of its own."""
        binding = self.bound.get("reserve")
        if binding is None:
            return state
        inputs = {**self._inputs(b, counts, state, binding), **self._told(binding, b, counts)}
        returned = self._invoked(binding, inputs)
        return cache_of(returned, binding, RESERVE, state)

    def _told(self, binding: Binding, b: int | None, counts: Array) -> dict[str, Any]:
        """How many tokens come, or are there: of a sequence, or of all where it is told of all at once."""
        if b is not None and not (self.alone or by_rows(binding)):
            every = np.zeros(self.sizes.batch, counts.dtype)
            every[b] = counts[0]
            counts = every
        return {"count": int(counts.max()), "lengths": counts, "active": counts > 0}

    @property
    def _ticks(self) -> list[Binding]:
        """What tells the cache that a step is over."""
        return [self.bound[name] for name in TICKS if name in self.bound]

    def advance(self, counts: Array) -> None:
        """Tell a cache that counts apart that so many tokens of each sequence, (B,), are all there."""
        for role in TICKS:
            self._advanced(role, None, counts)

    def _advanced(self, role: str, b: int | None, counts: Array) -> None:
        """Tell a cache that counts by itself, and apart, that a step is over; it may give a new cache."""
        binding = self.bound.get(role)
        if binding is None or self.quiet:
            return
        if b is None and (self.alone or per_sequence(binding)):
            for row in range(self.sizes.batch):
                self._advanced(role, row, counts[row : row + 1])
            return
        at = (b or 0) if self.alone else 0
        inputs = self._inputs(b, np.zeros_like(counts), self.states[at], binding)
        returned = self._invoked(binding, {**inputs, **self._told(binding, b, counts)})
        self.states[at] = cache_of(returned, binding, _ROLES[role], self.states[at])

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
        state = self.states[b or 0] if self.alone else self.states[0]
        inputs = self._inputs(b, np.zeros(q.shape[0], np.int64), state, binding, q.shape[2])
        stored = self.counts if b is None else self.counts[b : b + 1]
        new = np.full_like(stored, q.shape[2]) if counts is None else counts
        if binding.takes("row_positions") and len(set((stored - new).tolist())) > 1:
            raise Skipped(f"{binding.target} takes one position for the whole batch")
        stand = standing(stored, new, q.shape[2])
        # of the arrays, "positions" is what is stored, as elsewhere
        named = ("query_positions", "first_positions", "row_positions", "key_positions")
        inputs.update({name: stand[name] for name in named})
        inputs.update(lengths=new, bounds=np.concatenate([[0], np.cumsum(new)]))
        inputs["q"] = self._to_wire(q, binding, new)
        returned = self._invoked(binding, inputs)
        return self._fetched(returned, _ROLES["attend"], "out", q.shape, binding.layout, new)

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
            returned = self._invoked(binding, inputs)
            out[place, :, :tokens] = self._fetched(
                returned, _ROLES["attention"], "out", shape, binding.layout
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
        sizes, n = self.sizes, int(self.counts[b])
        if "read" not in self.bound:
            if not self._pairs or self._pairs[0] is None:
                raise Skipped("the cache cannot be read back")
            k, v, layout = self._pairs[0]
            return self._read_pair(k, v, layout, b, int(self.counts.max()))
        binding = self.bound["read"]
        state = self.states[b] if self.alone else self.states[0]
        by_itself = "B" not in binding.layout or self.alone or per_sequence(binding)
        nothing = np.zeros(sizes.batch, np.int64)
        inputs = self._inputs(b if by_itself else None, nothing, state, binding)
        returned = self._invoked(binding, inputs)
        found = pair(returned, _ROLES["read"])
        if found is None:
            raise BadResult(f"{binding.target} gives no keys and values")
        return self._read_pair(*found, binding.layout, b, n)

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


def _one_position(binding: Binding) -> bool:
    return binding.takes("position") and not any(
        binding.takes(name) for name in ("positions", "lengths", "totals", "before")
    )


def _told_apart(tick: Binding, *names: str) -> bool:
    """Whether what ends a step can be told of each sequence by itself, by one of these parameters."""
    return by_rows(tick) or any(tick.takes(name) for name in names)


def _only_what_can_be_said(binding: Binding, ticks: Sequence[Binding], counts: Array, tokens: int) -> None:
    if bool(np.all(counts == tokens)) or ("R" in binding.layout and not ticks):
        return
    names = ("lengths", "active") if tokens == 1 else ("lengths",)
    for tick in ticks:
        if not _told_apart(tick, *names):
            raise Skipped(f"{tick.target} takes one number of tokens for the whole batch")
    if any(call.takes(name) for call in (binding, *ticks) for name in (*names, "totals", "bounds")):
        return
    raise Skipped(f"{binding.target} takes no lengths, so every sequence of a batch gets the same tokens")
