"""A decoder's step that is wrong: which of them, and what it stores for its token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.faces.projections import Shape
from judge_tui.checks.tasks.kv.faces.slot_shapes import guessed
from judge_tui.checks.tasks.kv.faces.slots import Kept, Slot, arrays, changed, slots
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_reads import Reads
from judge_tui.checks.tasks.kv.incremental_equals_full.kept_rows import moved
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["told_step"]

Array = npt.NDArray[Any]
#: Tokens of the prompt, and steps behind it.
_PROMPT, _STEPS = 4, 4
#: The share of the budget that must be left for looking closer.
_LEFT = 0.4
#: How near rows are that are the same, whichever way they came in.
_SAME = 1e-4
#: Wrong places of a cache that are told.
_MOST = 3


def told_step(subject: Subject, limit: float) -> str:
    """What is wrong with the steps of a decoder, as the end of a sentence; empty where nothing is seen.

    Args:
        subject: What is judged.
        limit: Relative error of a right answer.
    """
    if subject.bench.left < _LEFT * subject.bench.budget:
        return ""
    made = (subject.bound[role] for role in ("decoder", "state") if role in subject.bound)
    takes_layers = any(binding.takes("layers") for binding in made)
    try:
        makers = [subject.maker(layers=n) for n in (1, 2)] if takes_layers else []
        for make in [*makers, subject.maker()]:
            given = make(1).draw(subject.bench.rng("causes"), _PROMPT + _STEPS)
            if wrong := _wrong(make, given, limit):
                clauses = [_which(wrong), _Looked(subject, make, given, min(wrong), limit).cause()]
                told = "; ".join(filter(None, clauses))
                return f": {told}" if told else ""
    except Fault:
        return ""
    return ""


def _wrong(make: Maker, given: Array, limit: float) -> list[int]:
    """Positions of the steps that differ from a prompt of the same tokens."""
    stepped = make(1)
    stepped.prefill(given[:, :_PROMPT])
    answers = {t: stepped.decode(given[:, t]) for t in range(_PROMPT, given.shape[1])}
    return [
        t
        for t, out in answers.items()
        if not relative_error(out, make(1).prefill(given[:, : t + 1])) <= limit
    ]


def _which(wrong: list[int]) -> str:
    """Which steps behind a prompt are wrong, where it is not all of them."""
    right = min(wrong) - _PROMPT
    if wrong == [_PROMPT]:
        return "the first step behind a prompt alone is wrong"
    if right:
        first = "the first step" if right == 1 else f"the first {right} steps"
        return f"{first} behind a prompt {'is' if right == 1 else 'are'} right, the next wrong"
    return ""


@dataclass(frozen=True, slots=True)
class _Looked:
    """A wrong step of one sequence, to be looked at closer.

    Attributes:
        subject: What is judged.
        make: Makes its decoder.
        given: (1, N) ids or (1, N, E).
        at: Where the token of the step stands.
        limit: Relative error of a right answer.
    """

    subject: Subject
    make: Maker
    given: Array
    at: int
    limit: float

    def cause(self) -> str:
        """What it stores, or reads, that it should not, as a clause."""
        stepped, prompted, empty = self._after_step(), self.make(1), arrays(self.make(1))
        prompted.prefill(self.given[:, : self.at + 1])
        after, truth = arrays(stepped), arrays(prompted)
        shape = _shape(stepped, empty, truth, self.at + 1)
        if fewer := _fewer(shape, empty, truth, self.at + 1):
            return fewer
        ours, theirs = (slots(empty, each, shape, self.at + 1) for each in (after, truth))
        if len(ours) != len(theirs) or not ours or any(
            one.seen.shape != other.seen.shape for one, other in zip(ours, theirs, strict=True)
        ):  # fmt: skip
            return ""
        wrong = _rows_apart(ours, theirs)
        if not len(wrong):
            return Reads(self.subject, self.make, self._fed, self.given[:, : self.at + 1], shape).told(
                self.limit
            )
        told = moved(shape, empty, after, truth, self.at + 1)
        known = told if told and not told.endswith(": wrong") else ""
        told = self._other_rows(shape, ours, wrong)
        return told or (known and f"in the cache after the step, but not after a prompt: {known}")

    def _fed(self) -> Decoder:
        """A decoder that was fed what stands before the step."""
        decoder = self.make(1)
        decoder.prefill(self.given[:, :_PROMPT])
        for t in range(_PROMPT, self.at):
            decoder.decode(self.given[:, t])
        return decoder

    def _other_rows(self, shape: Shape, kept: list[Slot], wrong: Array) -> str:
        """What stands in places whose rows are wrong: nothing, or a token as one that stands elsewhere."""
        told = []
        for place in wrong.tolist()[:_MOST]:
            rows = [slot.seen[:, place] for slot in kept]
            if not any(row.any() for row in rows):
                told.append(f"place {place} of the cache stays empty")
            elif words := self._other_place(shape, rows, place):
                told.append(words)
            else:
                return ""
        return " and ".join(told)

    def _other_place(self, shape: Shape, rows: list[Array], place: int) -> str:
        """Which token stands in a place, as one of which position."""
        for token in sorted({place, self.at}):
            for position in range(self.at + 3):
                # what stands before a token does not matter to what is stored of it in a first layer
                fill = np.concatenate([self.given[:, :token]] * (position // max(token, 1) + 1), axis=1)
                before = fill[:, :position] if token else np.repeat(self.given[:, :1], position, axis=1)
                # two tokens more, so that an axis of tokens is seen, and is none of keys and values
                pieces = [before, self.given[:, token : token + 1], self.given[:, :2]]
                prompted = self.make(1)
                prompted.prefill(np.concatenate(pieces, axis=1))
                there = self._newest(shape, prompted, position)
                if len(rows) == len(there) and all(
                    relative_error(one, other) <= _SAME for one, other in zip(rows, there, strict=True)
                ):  # fmt: skip
                    where = "" if place == token else f" in the place of token {place}"
                    at = "" if position == token else f" as one that stands at position {position}"
                    return f"the token {token} of a step is stored{where}{at}"
        return ""

    def _after_step(self) -> Decoder:
        decoder = self._fed()
        decoder.decode(self.given[:, self.at])
        return decoder

    def _newest(self, shape: Shape, decoder: Decoder, place: int) -> list[Array]:
        """What is stored for a token, of every array that holds keys or values."""
        kept = slots(arrays(self.make(1)), arrays(decoder), shape, place + 3)
        return [slot.seen[:, place].copy() for slot in kept]


def _rows_apart(ours: list[Slot], theirs: list[Slot]) -> Array:
    """Places whose rows are not the same."""
    apart = []
    for one, other in zip(ours, theirs, strict=True):
        size = max(float(np.abs(other.seen).max()), 1e-300)
        apart.append((~(np.abs(one.seen - other.seen) <= _SAME * size)).any(axis=(0, 2)))
    return np.flatnonzero(np.any(apart, axis=0))


def _fewer(shape: Shape, empty: Kept, truth: Kept, tokens: int) -> str:
    """Whether a cache that grows has another number of rows than tokens after a prompt of so many."""
    rows = {slot.seen.shape[1] for slot in slots(empty, truth, shape, 1)}
    grows = not any(path in empty for path in changed(empty, truth))
    if len(rows) == 1 and grows and rows != {tokens} and (held := rows.pop()) < tokens:
        return f"after a prompt of {tokens} tokens its cache has {held} rows"
    return ""


def _shape(decoder: Decoder, empty: Kept, truth: Kept, tokens: int) -> Shape:
    """Heads and width as it was told them; as its arrays have them where that fits none."""
    sizes = decoder.sizes
    told = Shape(sizes.heads, sizes.kv_heads or sizes.heads, sizes.embed // sizes.heads)
    return told if slots(empty, truth, told, 1) else guessed(empty, truth, tokens) or told
