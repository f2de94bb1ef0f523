"""A submission's cache and attention behind one face: open, feed tokens, read back.

Caches are fed by batch, by sequence or by token, fused with attention or apart, and are changed in
place or returned. :class:`Cached` speaks to all of them, in the contract's (B, H, N, D).
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from judge_tui.checks.calling.binding import Binding
from judge_tui.checks.faults import BadResult, Raised, Skipped
from judge_tui.checks.tasks.kv.faces.answers import pair
from judge_tui.checks.tasks.kv.faces.batch import Batch
from judge_tui.checks.tasks.kv.faces.store import by_rows, per_sequence
from judge_tui.checks.tasks.kv.faces.ways import Way
from judge_tui.checks.tasks.kv.words import roles
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
#: Roles beside which prompts are no call of their own, or are told otherwise.
_OTHERWISE = frozenset({"step_many", "advance", "advance_after", "reserve"})


class Cached(Batch):
    """A cache of a batch being fed, attended with and read back, in the contract's (B, H, N, D).

    The arguments are those of :class:`~judge_tui.checks.tasks.kv.faces.batch.Batch`.
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
    def prompts_apart(self) -> bool:
        """Whether a call stores the prompt of one sequence, and all sequences step together, a token each.

        Or it stores the prompts of all, told how long each is, which those of single tokens are not.

        Attention over a prompt cannot be asked for then: what attends answers for the whole batch.
        """
        steps = {"fused": ("step",), "attend": ("append", "attend")}.get(self.mode, ())
        together = [self.bound[name] for name in steps if name in self.bound]
        many = self.bound.get("append_many")
        if self.alone or not together or len(together) != len(steps) or _OTHERWISE & set(self.bound):
            return False
        told = many is not None and many.takes("lengths") and not any(c.takes("lengths") for c in together)
        return (
            many is not None
            and (per_sequence(many) or told)
            and all("B" in c.layout and not {"N", "P"} & set(c.layout) and not by_rows(c) for c in together)
        )

    def feed_prompts(self, k: Array, v: Array, counts: Array) -> None:
        """Store a prompt of each sequence by itself, or of all, where that is a call of its own.

        Args:
            k: (B, G, T, D).
            v: As k.
            counts: (B,) how many of the T tokens each sequence has.

        Raises:
            Fault: What the submission did.
        """
        many = self.bound["append_many"]
        if not per_sequence(many):
            self._put(many, None, counts, k=k, v=v)
            return
        for b in map(int, np.flatnonzero(counts)):
            row, tokens = slice(b, b + 1), slice(0, counts[b])
            own = (x[row, :, tokens] for x in (k, v))
            self._put(many, b, counts[row], **dict(zip("kv", own, strict=True)))

    def beside(self, layer: int) -> Self:
        """Another layer of the same cache, with counts of its own."""
        other = copy.copy(self)
        other.layer, other.counts, other._pairs = layer, np.zeros(self.sizes.batch, np.int64), []
        return other

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
        single = [self.bound[role] for role in ("step", "append") if role in self.bound]
        told = ("lengths", "totals", "active", "positions", "bounds")
        for name in told:
            if any(b.takes(name) for b in (*(single or feeding), *self._ticks)):
                return name
        if self.prompts_apart or any(b.takes(name) for b in feeding for name in told):
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
            self.feed_prompts(k, v, counts)
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
        stored = self.length(b)
        ragged = len(set(counts.tolist())) > 1
        way = Way(k.shape[2] > 1, bool(stored.any()), ragged, self.sizes.dtype)
        try:
            return self._fed(binding, q, k, v, counts, b)
        except (Raised, BadResult) as fault:
            if self.goes is None or way.settled or binding.origin != "found" or self.goes(way):
                raise
            raise Skipped(f"{binding.target} {fault.placed}: nothing shows that it takes {way}") from fault

    def _fed(self, binding: Binding, q: Array, k: Array, v: Array, counts: Array, b: int | None) -> Array:
        if b is not None and b in self._expected:
            if self.mode == "fused":
                raise Skipped(f"{self.bound['add'].target} takes the first tokens, and attends over none")
            self.come_with(b, k, v)
            return self.attend(q, b, counts)
        _only_what_can_be_said(binding, [] if self.alone else self._ticks, counts, k.shape[2])
        if b is None and len(set(self.counts.tolist())) > 1 and _one_position(binding):
            raise Skipped(f"{binding.target} takes one position for the whole batch")
        role = roles.BY_NAME[binding.role]
        if self.mode == "fused":
            returned = self._put(binding, b, counts, q=q, k=k, v=v)
            return self._fetched(returned, role, "out", q.shape, binding.layout, counts)
        returned = self._put(binding, b, counts, k=k, v=v)
        found = None if "P" in binding.layout else pair(returned, role)
        self._pairs = [(*found, binding.layout)] if found else []
        out = self.attend(q, b, counts)
        self._advanced("advance_after", b, counts)
        return out

    @property
    def _ticks(self) -> list[Binding]:
        """What tells the cache that a step is over."""
        return [self.bound[name] for name in TICKS if name in self.bound]

    def advance(self, counts: Array) -> None:
        """Tell a cache that counts apart that so many tokens of each sequence, (B,), are all there."""
        for role in TICKS:
            self._advanced(role, None, counts)


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
