"""Judging on a GPU what was written for NumPy: what CuPy does otherwise convicts nobody.

A check whose body needs no device runs on the CPU. One that does not pass on the GPU, or in
which something was refused, runs on the CPU too, with the same inputs. A refusal is the
worker's word, so it excuses nothing that the CPU convicts of: a `fail` there is one. Where the
CPU tells another story, the outcome is `skip: not portable to the GPU` if something the submission
asked for could not be had, and `warn` if only numbers differ.
"""

from __future__ import annotations

import msgspec

from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import NotPortable
from judge_tui.checks.verdict import Evidence, Outcome, Verdict

__all__ = ["held_against_cpu", "needs_the_cpu"]

#: Verdicts that say the same on a GPU, whatever the CPU says, unless something was refused.
_SETTLED = (Verdict.PASS, Verdict.SKIP, Verdict.ERROR)


def needs_the_cpu(outcome: Outcome, bench: Bench) -> bool:
    """Whether the same check has to run on the CPU before an outcome stands.

    Args:
        outcome: The GPU's.
        bench: The bench that it ran on.
    """
    if _refusal(bench) is not None:
        return True
    # a check may have skipped for what it took for an answer
    return outcome.verdict not in _SETTLED or (outcome.verdict is Verdict.SKIP and bool(bench.refusals))


def held_against_cpu(outcome: Outcome, bench: Bench, on_cpu: Outcome) -> Outcome:
    """What stands of an outcome, once the CPU has spoken.

    Args:
        outcome: The GPU's, which :func:`needs_the_cpu`.
        bench: The bench that it ran on.
        on_cpu: The same check with the same seed on the CPU.
    """
    refusal = _refusal(bench)
    told = Evidence("the same check on the CPU", str(on_cpu.verdict), note=on_cpu.summary)
    both = msgspec.structs.replace(outcome, evidence=(*outcome.evidence, told))
    if refusal is not None:
        return _failed(outcome, on_cpu) if on_cpu.verdict is Verdict.FAIL else _skipped(both, refusal)
    if outcome.verdict in (Verdict.WARN, Verdict.AMBIGUOUS):
        return both
    if on_cpu.verdict is outcome.verdict:
        return both
    if on_cpu.verdict is Verdict.ERROR and not bench.refusals:
        return both
    if on_cpu.verdict is Verdict.FAIL:
        return _failed(outcome, on_cpu)
    if bench.refusals:
        return _skipped(both, NotPortable.by(bench.refusals[0]))
    if outcome.verdict is Verdict.UNBOUND:
        return msgspec.structs.replace(
            both, verdict=Verdict.SKIP, summary=f"{NotPortable.WORDS}: {outcome.summary}"
        )
    summary = f"{on_cpu.verdict} on the CPU, and otherwise on the GPU: {outcome.summary}"
    return msgspec.structs.replace(both, verdict=Verdict.WARN, summary=summary)


def _refusal(bench: Bench) -> NotPortable | None:
    return next((fault for fault in bench.refusals if isinstance(fault, NotPortable)), None)


def _failed(outcome: Outcome, on_cpu: Outcome) -> Outcome:
    """The CPU's fail, with what the GPU said of it."""
    told = Evidence("the same check on the GPU", str(outcome.verdict), note=outcome.summary)
    return msgspec.structs.replace(
        outcome, verdict=Verdict.FAIL, summary=f"fail on the CPU: {on_cpu.summary}",
        evidence=(*on_cpu.evidence, told),
    )  # fmt: skip


def _skipped(outcome: Outcome, refusal: NotPortable) -> Outcome:
    told = Evidence(
        "asked of the GPU", refusal.what, file=refusal.file, line=refusal.line, output=refusal.output,
        note="Written for NumPy and judged on CuPy: --backend cpu judges it.",
    )  # fmt: skip
    kept = (told, *(each for each in outcome.evidence if each.ok is not False))
    at = f" at {refusal.file}:{refusal.line}" if refusal.file and refusal.line else ""
    summary = f"{NotPortable.WORDS}: {refusal.what}{at}"
    return msgspec.structs.replace(outcome, verdict=Verdict.SKIP, summary=summary, evidence=kept)
