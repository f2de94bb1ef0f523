"""A decoder's step that is wrong: which of them, and what it stores for its token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from judge_tui.checks.faults import Fault
from judge_tui.checks.tasks.kv.faces.decoding import Decoder
from judge_tui.checks.tasks.kv.faces.maker import Maker
from judge_tui.checks.tasks.kv.incremental_equals_full.decoder_reads import Reads
from judge_tui.checks.tasks.kv.incremental_equals_full.stored_places import Stored
from judge_tui.checks.tasks.kv.subject import Subject
from judge_tui.checks.tolerance import relative_error

__all__ = ["told_step"]

Array = npt.NDArray[Any]
#: Tokens of the prompt, and steps behind it.
_PROMPT, _STEPS = 4, 4
#: The share of the budget that must be left for looking closer.
_LEFT = 0.4


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
        given, stepped = self.given[:, : self.at + 1], self._fed()
        stepped.decode(self.given[:, self.at])
        kept = Stored(self.make, given, stepped)
        if kept.same:
            return Reads(self.subject, self.make, self._fed, given, kept.shape).told(self.limit)
        return kept.words

    def _fed(self) -> Decoder:
        """A decoder that was fed what stands before the step."""
        decoder = self.make(1)
        decoder.prefill(self.given[:, :_PROMPT])
        for t in range(_PROMPT, self.at):
            decoder.decode(self.given[:, t])
        return decoder
