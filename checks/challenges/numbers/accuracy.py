"""The check of a challenge of numbers: is the answer right, in every case and every dtype?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.challenges.author import Author
from judge_tui.checks.challenges.numbers.answering import called, left_out, taken, whole
from judge_tui.checks.challenges.numbers.comparing import Compared, as_array, compared
from judge_tui.checks.challenges.numbers.contract import SOLUTION
from judge_tui.checks.challenges.numbers.parts import paired
from judge_tui.checks.challenges.numbers.truths import Case, Truths
from judge_tui.checks.challenges.numbers.undecided import allowing
from judge_tui.checks.challenges.numbers.values import cast, has_floats
from judge_tui.checks.check import Check, Findings, check
from judge_tui.checks.errors import ChallengeFault
from judge_tui.checks.faults import Raised
from judge_tui.checks.tolerance import SLACK, is_single
from judge_tui.checks.verdict import Verdict

__all__ = ["Worst", "accuracy", "edge_cases", "held"]

_SINGLE, _DOUBLE = "float32", "float64"


@dataclass(slots=True)
class Worst:
    """The entry of one part that is furthest off, as a share of its limit, over many cases."""

    compared: Compared = field(default_factory=Compared)
    limit: float = 0.0
    case: str = ""
    beyond: bool = False
    single: bool = True
    handed: str = ""

    def take(self, found: Compared, limit: float, case: str, *, single: bool) -> None:
        """Look at another case; ``single`` says that all of its answer are float32's numbers."""
        self.single = self.single and single
        beyond = not found.error <= limit
        if (beyond, _share(found.error, limit)) > (self.beyond, _share(self.compared.error, self.limit)) or (
            not self.case
        ):
            self.compared, self.limit, self.case, self.beyond = found, limit, case, beyond


def _share(error: float, limit: float) -> float:
    if math.isnan(error):
        return math.inf
    return error / limit if limit else (math.inf if error else 0.0)


def accuracy(truths: Truths, seconds: float) -> Check:
    """The check ``accuracy``.

    Args:
        truths: The author's inputs and answers.
        seconds: What one call may take.
    """
    unique = "check" not in truths.numbers.functions

    @check(
        "accuracy",
        "right in every case",
        establishes=(
            "The answer is the reference's within a calibrated limit, in all cases, sizes between, dtypes."
            if unique
            else "The answer is one that the challenge's own check accepts, in every case."
        ),
        roles=(SOLUTION,),
        budget=300.0,
    )
    def body(bench: Bench, found: Findings) -> str:
        where = bench.binding(SOLUTION)
        at: dict[str, Any] = {"file": where.file, "line": where.line or None}
        worst: dict[tuple[str, str], Worst] = {}
        count = 0
        cases = list(truths.cases(bench.rng("cases")))
        for index, case in enumerate(cases):
            for dtype in _dtypes(truths, case):
                bench.progress(f"{case.label}, {dtype}", index / len(cases))
                count += 1
                if wrong := held(bench, truths, case, dtype, seconds, worst):
                    found.claim(
                        f"answer, {case.label}, {dtype}", False, measured=wrong, limit="a right answer", **at
                    )
                    return f"{wrong} ({case.label}, {dtype})"
        return _told(found, worst, count, at, truths)

    return body


def edge_cases(truths: Truths, seconds: float) -> Check:
    """The check ``edge_cases``: what the author wrote down one by one, in float64."""

    @check(
        "edge_cases",
        "right at the edges",
        establishes="The answer is right in every case that the challenge names.",
        roles=(SOLUTION,),
        budget=120.0,
    )
    def body(bench: Bench, found: Findings) -> str:
        where = bench.binding(SOLUTION)
        at: dict[str, Any] = {"file": where.file, "line": where.line or None}
        names: list[str] = []
        bad: list[str] = []
        for case in named_cases(truths, bench.rng("edges")):
            worst: dict[tuple[str, str], Worst] = {}
            names.append(case.label)
            bench.progress(case.label, None)
            try:
                wrong = held(bench, truths, case, _DOUBLE, seconds, worst)
            except Raised as fault:
                found.claim(
                    case.label, False, measured=fault.message, file=fault.file or where.file,
                    line=fault.line or where.line or None, output=fault.output,
                )  # fmt: skip
                bad.append(f"{case.label}: {fault.message}")
                continue
            beyond = next((each for each in worst.values() if each.beyond), None)
            wrong = wrong or (beyond.compared.told if beyond else "")
            found.claim(case.label, not wrong, measured=wrong or "right", limit="a right answer", **at)
            bad += [f"{case.label}: {wrong}"] if wrong else []
        if not names:
            raise truths.authors.here().fault("edge_cases yields nothing")
        return "; ".join(bad[:3]) if bad else f"{len(names)} of {len(names)} right: {', '.join(names)[:120]}"

    return body


def named_cases(truths: Truths, rng: np.random.Generator) -> Sequence[Case]:
    """What ``edge_cases`` yields: a name and inputs each.

    Raises:
        ChallengeFault: An item is something else, or the reference has no answer to it.
    """
    from judge_tui.checks.calling.remote import Random

    author = truths.authors.here()
    made: list[Case] = []
    for item in author.yielded("edge_cases", [Random(int(rng.integers(2**62)))]):
        value = author.value(item, "edge_cases")
        if not (isinstance(value, (tuple, list)) and len(value) == 2 and isinstance(value[1], dict)):
            raise author.fault("edge_cases must yield (name, inputs), the inputs as a dict")
        name, inputs = str(value[0]), _complete(author, truths, value[1])
        if "reference" in truths.numbers.functions:
            try:
                truths.answer(inputs)
            except ChallengeFault as fault:
                fault.message = f"edge case '{name}': {fault.message}"
                raise
        made.append(Case(name, inputs))
    return made


def _complete(author: Author, truths: Truths, inputs: Mapping[str, Any]) -> dict[str, Any]:
    known = {parameter.name for parameter in truths.numbers.parameters}
    for name in inputs:
        if name not in known:
            raise author.fault(f"edge_cases gives '{name}', which is no input")
    if missing := left_out(truths.numbers, inputs):
        raise author.fault(f"edge_cases leaves out '{missing}', which has no default")
    return dict(inputs)


def held(
    bench: Bench,
    truths: Truths,
    case: Case,
    dtype: str,
    seconds: float,
    worst: dict[tuple[str, str], Worst],
) -> str:
    """Hold the answer to one case; errors go into ``worst``, by dtype and part.

    Returns:
        What is wrong beside numbers, as a clause; empty where nothing is.

    Raises:
        Fault: The submission raised, hung or died.
        ChallengeFault: The author's code has no answer.
    """
    numbers = truths.numbers
    inputs = cast(dict(case.inputs), dtype)
    if "check" in numbers.functions:
        return _accepted(bench, truths, inputs, seconds)
    truth = truths.answer(cast(inputs, _DOUBLE))
    limits = truths.limits(inputs, dtype, bench.rng("limits", case.label, dtype))
    returned = called(bench, numbers, inputs, seconds=seconds)
    pairs = paired(taken(bench, returned, numbers, truth), truth, numbers)
    for name, (mine, part) in pairs.items():
        found = compared(mine, part)
        if found.wrong:
            return f"{name}: {found.told}" if len(pairs) > 1 else found.told
        if not found.error <= limits[name] and dtype != _DOUBLE:
            rng = bench.rng("undecided", case.label, dtype)
            losses = truths.losses(inputs, dtype, rng, units=SLACK)
            found = allowing(found, mine, part, [loss[name] for loss in losses if name in loss])
        kept = worst.setdefault((dtype, name), Worst())
        kept.take(found, limits[name], case.label, single=_is_single(mine))
        kept.handed = str(returned.result.counters.get("handed", ""))
    return ""


def _accepted(bench: Bench, truths: Truths, inputs: Mapping[str, Any], seconds: float) -> str:
    """Ask the author's own ``check`` about an answer; its reason where it is not accepted."""
    author, numbers = truths.authors.here(), truths.numbers
    returned = called(bench, numbers, inputs, seconds=seconds)
    answer = taken(bench, returned, numbers)
    return asked(author, whole(answer, numbers), inputs)


def asked(author: Author, answer: Any, inputs: Mapping[str, Any]) -> str:
    """What the author's ``check`` says against an answer; empty where it accepts it.

    Raises:
        ChallengeFault: It raises something else than an assertion, or answers with no word.
    """
    try:
        told = author.call("check", [answer], inputs)
    except ChallengeFault as fault:
        cause = fault.__cause__
        if isinstance(cause, Raised) and cause.kind == "AssertionError":
            return cause.detail or f"an assertion of the challenge's does not hold (line {cause.line})"
        raise
    if told is None or told is True or (isinstance(told, np.bool_) and bool(told)):
        return ""
    if isinstance(told, str):
        return told or "it is not accepted"
    if told is False or isinstance(told, np.bool_):
        return "it is not accepted"
    raise author.fault(
        f"check answers with a {type(told).__name__}: it must give nothing, true, false or a text"
    )


def _is_single(answer: Any) -> bool:
    """Whether an answer's numbers are float32's, as no result of float64 arithmetic is by chance."""
    array = as_array(answer)
    if array is None or array.dtype.kind not in "fc":
        return False
    return all(is_single(part.astype(np.float64)) for part in (array.real, array.imag))


def _dtypes(truths: Truths, case: Case) -> Sequence[str]:
    """The dtypes that a case is handed over in; one where it holds no floating-point array."""
    return truths.numbers.dtypes if has_floats(dict(case.inputs)) else (_DOUBLE,)


def _told(
    found: Findings,
    worst: Mapping[tuple[str, str], Worst],
    count: int,
    at: Mapping[str, Any],
    truths: Truths,
) -> str:
    """Evidence of every dtype and part, and the sentence about the worst of all."""
    if not worst:
        found.claim("answers that the challenge accepts", True, measured=count, unit="calls", **at)
        return f"all {count} answers are accepted"
    for (dtype, name), each in worst.items():
        otherwise = _otherwise(each, dtype, truths, name)
        note = f"{each.case}: {each.compared.told}" if each.compared.error else each.case
        found.limit(
            f"{name}, largest error, {dtype}",
            each.compared.error,
            each.limit,
            otherwise=otherwise,
            note=note,
            **at,
        )
    if handed := next((each.handed for each in worst.values() if each.handed), ""):
        found.note(
            "arrays are handed over as those of",
            handed,
            note="as its module imports it, or its parameters say",
        )
    (dtype, name), first = max(
        worst.items(), key=lambda item: (item[1].beyond, _share(item[1].compared.error, item[1].limit))
    )
    error, limit = first.compared.error, first.limit
    if not first.beyond:
        return f"largest error {error:.2g} of at most {limit:.2g} ({dtype}), {count} calls"
    if found.verdict is Verdict.WARN:
        return f"float32 arithmetic on float64 input: {name} is {error:.2g} off, at most {limit:.2g}"
    off = f"is {error:.2g} off, at most {limit:.2g}: " if math.isfinite(error) else ""
    return f"{name} {off or 'has '}{first.compared.told} ({first.case}, {dtype})"


def _otherwise(each: Worst, dtype: str, truths: Truths, name: str) -> Verdict:
    """What an error beyond the limit is: of float32 arithmetic on float64 input a warning."""
    rounding = float(np.finfo(_SINGLE).eps)
    stated = truths.stated(name, _SINGLE)
    single = stated if stated is not None else each.limit * rounding / float(np.finfo(_DOUBLE).eps)
    rounded = dtype == _DOUBLE and each.single and each.compared.error <= single
    return Verdict.WARN if rounded else Verdict.FAIL
