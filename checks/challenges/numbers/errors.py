"""The check ``errors``: what a solution has to refuse, and with which exception."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Random, Target
from judge_tui.checks.challenges.author import Author, crossing
from judge_tui.checks.challenges.challenge import NUMBERS
from judge_tui.checks.challenges.numbers.answering import called, left_out
from judge_tui.checks.challenges.numbers.contract import SOLUTION
from judge_tui.checks.challenges.numbers.truths import Truths
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.faults import Fault, Raised

__all__ = ["errors"]


@dataclass(frozen=True, slots=True)
class _Refused:
    """Inputs that have to be refused.

    Attributes:
        name: What the author calls them.
        inputs: Name → value.
        kind: Name of the exception; one below it will do.
    """

    name: str
    inputs: Mapping[str, Any]
    kind: str


def errors(truths: Truths, seconds: float) -> Check:
    """The check ``errors``.

    Args:
        truths: The author's inputs and answers.
        seconds: What one call may take.
    """

    @check(
        "errors",
        "refuses what it must",
        establishes="What the challenge says is wrong input ends in the exception that it names.",
        roles=(SOLUTION,),
        budget=120.0,
    )
    def body(bench: Bench, found: Findings) -> str:
        where = bench.binding(SOLUTION)
        bad: list[str] = []
        count = 0
        for case in _cases(truths, bench.rng("errors")):
            count += 1
            told, right = _met(bench, truths, case, seconds)
            found.claim(
                case.name, right, measured=told, limit=case.kind, file=where.file, line=where.line or None
            )
            bad += [] if right else [f"{case.name}: {told} instead of {case.kind}"]
        if not count:
            raise truths.authors.here().fault("error_cases yields nothing")
        return "; ".join(bad[:3]) if bad else f"{count} of {count} refused as the challenge asks"

    return body


def _met(bench: Bench, truths: Truths, case: _Refused, seconds: float) -> tuple[str, bool]:
    """What came of a call that has to be refused, in words, and whether that is right.

    Raises:
        Fault: The call hung, or ended the process.
    """
    try:
        called(bench, truths.numbers, case.inputs, seconds=seconds)
    except Raised as fault:
        return fault.kind, case.kind in fault.kinds
    return "an answer", False


def _cases(truths: Truths, rng: np.random.Generator) -> Iterator[_Refused]:
    """What ``error_cases`` yields, each refused by the reference first.

    Raises:
        ChallengeFault: An item is something else, or the reference does not refuse it.
    """
    author = truths.authors.here()
    for item in author.yielded("error_cases", [Random(int(rng.integers(2**62)))]):
        tree = author.worker.describe(item)
        if tree.get("kind") not in ("tuple", "list") or len(tree.get("parts", ())) != 3:
            raise author.fault("error_cases must yield (name, inputs, exception class)")
        name = author.value(item.part(("i", 0)), "error_cases")
        inputs = author.value(item.part(("i", 1)), "error_cases")
        kind = author.value(item.part(("i", 2), ("a", "__name__")), "the exception class of error_cases")
        if not isinstance(inputs, dict):
            raise author.fault("error_cases must yield (name, inputs, exception class), the inputs as a dict")
        if missing := left_out(truths.numbers, inputs):
            raise author.fault(f"error_cases leaves out '{missing}', which has no default")
        case = _Refused(str(name), inputs, str(kind))
        if "reference" in truths.numbers.functions:
            _hold_reference(author, case)
        yield case


def _hold_reference(author: Author, case: _Refused) -> None:
    arguments = {name: crossing(value) for name, value in case.inputs.items()}
    try:
        author.worker.call(Target(NUMBERS, "reference"), (), arguments, budget=author.patience)
    except Raised as fault:
        if case.kind in fault.kinds:
            return
        raise author.fault(
            f"error case '{case.name}': the reference raises {fault.kind} instead of {case.kind}", fault
        ) from fault
    except Fault as fault:
        raise author.fault(f"error case '{case.name}': the reference {fault.message}", fault) from fault
    raise author.fault(f"error case '{case.name}': the reference answers instead of raising {case.kind}")
