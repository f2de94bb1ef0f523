"""Claims of the author's that call the submission: each is a check, by its whole name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Author
from judge_tui.checks.challenges.challenge import NUMBERS
from judge_tui.checks.challenges.numbers.answering import called, left_out, taken, whole
from judge_tui.checks.challenges.numbers.contract import SOLUTION
from judge_tui.checks.challenges.numbers.truths import Truths
from judge_tui.checks.check import Check, Findings
from judge_tui.checks.faults import Fault, Raised
from judge_tui.checks.worker.border.codec import Encoder, MalformedError, decode

__all__ = ["claim_of"]

_DRAWS = 3
_MOST_CALLS = 10_000


def claim_of(truths: Truths, name: str, doc: str, seconds: float) -> Check:
    """The check of one ``property_*``.

    Args:
        truths: The author's inputs and answers.
        name: The function's.
        doc: The first line of its docstring.
        seconds: What one call of the submission may take.
    """

    def body(bench: Bench, found: Findings) -> str:
        where = bench.binding(SOLUTION)
        calls = 0
        for draw in range(_DRAWS):
            seed = int(bench.rng(name, draw).integers(2**62))
            author = truths.authors.here()
            author.loaded()
            _hold_reference(truths, author, name, seed)
            trial = _Trial(bench, truths, seconds)
            reason = trial.held(author, name, seed)
            calls += trial.calls
            found.claim(
                f"{name}, draw {draw + 1}", not reason, measured=reason or "holds", limit="holds",
                file=where.file, line=where.line or None, note=doc,
            )  # fmt: skip
            if reason:
                return f"{reason} (draw {draw + 1})"
        return f"holds in {_DRAWS} draws, {calls} calls"

    title = name.removeprefix("property_").replace("_", " ")
    return Check(name, title, doc or f"What {name} of the challenge asserts.", body, roles=(SOLUTION,))


def _hold_reference(truths: Truths, author: Author, name: str, seed: int) -> None:
    """Be sure that the claim holds for the reference.

    Raises:
        ChallengeFault: It does not.
    """
    if "reference" not in truths.numbers.functions:
        return
    try:
        author.worker.ask("claim", file=NUMBERS, name=name, seed=seed, reference=True, budget=author.patience)
    except Fault as fault:
        raise author.fault(
            f"{name} does not hold for the reference itself: {fault.message}", fault
        ) from fault


@dataclass(slots=True)
class _Trial:
    """One claim on one submission.

    Attributes:
        bench: The submission's.
        truths: The author's.
        seconds: What one call may take.
        calls: How many were made.
        fault: What the submission did last that is no answer.
    """

    bench: Bench
    truths: Truths
    seconds: float
    calls: int = 0
    fault: Fault | None = None

    def held(self, author: Author, name: str, seed: int) -> str:
        """Why the claim does not hold; empty where it does.

        Raises:
            Fault: The submission raised what the claim does not expect, hung or died.
            ChallengeFault: The claim itself is off.
        """
        try:
            author.worker.converse(
                "claim", self._answer, file=NUMBERS, name=name, seed=seed, reference=False,
                budget=author.patience,
            )  # fmt: skip
        except Raised as fault:
            if self.fault is not None and (
                not isinstance(self.fault, Raised) or self.fault.kind == fault.kind
            ):
                raise self.fault from fault
            if "AssertionError" in fault.kinds:
                return fault.detail or f"an assertion of the challenge's does not hold (line {fault.line})"
            raise author.fault(f"{name}: {fault.message}", fault) from fault
        except Fault as fault:
            raise author.fault(f"{name} {fault.message}", fault) from fault
        if self.fault is not None and not isinstance(self.fault, Raised):
            raise self.fault
        return ""

    def _answer(self, data: bytes) -> Mapping[str, Any]:
        """What the submission answers to a call that the claim makes."""
        self.calls += 1
        try:
            inputs = decode(data)
        except MalformedError as error:
            return {"raise": ["TypeError", str(error), ["TypeError"]]}
        known = {parameter.name for parameter in self.truths.numbers.parameters}
        if not isinstance(inputs, dict) or not inputs.keys() <= known or self.calls > _MOST_CALLS:
            told = f"call takes {', '.join(sorted(known))} by name"
            return {"raise": ["TypeError", told, ["TypeError"]]}
        if missing := left_out(self.truths.numbers, inputs):
            told = f"call leaves out '{missing}', which has no default"
            return {"raise": ["TypeError", told, ["TypeError"]]}
        try:
            returned = called(self.bench, self.truths.numbers, inputs, seconds=self.seconds)
            answer = whole(taken(self.bench, returned, self.truths.numbers, inputs), self.truths.numbers)
        except Raised as fault:
            self.fault = fault
            return {"raise": [fault.kind, fault.detail, list(fault.kinds)]}
        except Fault as fault:
            self.fault = fault
            return {"raise": ["RuntimeError", fault.message, ["RuntimeError"]]}
        return {"value": Encoder().encode(answer)}
