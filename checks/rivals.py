"""Two complete solutions side by side: both are judged, and the worse one counts."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.verdict import Evidence, Outcome, Verdict, worst

__all__ = ["ONE_IS_ENOUGH", "worse"]

#: Checks of which the verdict says nothing of right and wrong.
ONE_IS_ENOUGH = frozenset({"throughput"})
#: What a second solution can make worse of a verdict.
_BAD = (Verdict.FAIL, Verdict.AMBIGUOUS, Verdict.WARN)


def worse(outcome: Outcome, bench: Bench, other: Outcome, rival: Bench) -> Outcome:
    """The outcome that counts, with what the other solution got.

    Args:
        outcome: Of the solution that is bound.
        bench: Where it was judged.
        other: Of the second one.
        rival: Where that was judged.
    """
    where, there = _files(bench), _files(rival)
    counts = other.verdict in _BAD and worst((outcome.verdict, other.verdict)) is other.verdict
    counts = counts and other.verdict is not outcome.verdict
    chosen, beside = (other, outcome) if counts else (outcome, other)
    place, elsewhere = (there, where) if counts else (where, there)
    told = Evidence(
        f"a second solution, in {elsewhere}", f"{beside.verdict}: {beside.summary}", None, "", None,
        note="Two complete solutions stand side by side; the worse one counts.",
    )  # fmt: skip
    summary = f"{place}: {chosen.summary} ({elsewhere}, a second solution: {beside.verdict})"
    return msgspec.structs.replace(
        chosen, summary=summary, evidence=(*chosen.evidence, told),
        seconds=round(outcome.seconds + other.seconds, 3),
    )  # fmt: skip


def _files(bench: Bench) -> str:
    known = bench.known_bindings
    files: Iterable[str] = {binding.file for binding in known.found.values()} if known else ()
    return ", ".join(sorted(files)) or "the other file"
