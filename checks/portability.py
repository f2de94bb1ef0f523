"""Judging on a GPU what was written for NumPy: what CuPy does otherwise convicts nobody.

A check whose body needs no device runs on the CPU. One that does not pass on the GPU runs
on the CPU too, with the same inputs: where that tells another story, the outcome is `skip:
not portable to the GPU` if something the submission asked for could not be had, and `warn` if
only numbers differ. A `fail` on the GPU is one on the CPU as well.
"""

from __future__ import annotations

import msgspec
from judge_tui.checks.bench import Bench
from judge_tui.checks.faults import NotPortable
from judge_tui.checks.verdict import Evidence, Outcome, Verdict

__all__ = ["held_against_cpu", "open_verdicts", "unportable"]


def open_verdicts(bench: Bench) -> tuple[Verdict, ...]:
    """Verdicts that the CPU has a say in; ``skip`` where something was refused, which may be why."""
    return (Verdict.FAIL, Verdict.UNBOUND, *((Verdict.SKIP,) if bench.refusals else ()))


def unportable(outcome: Outcome, bench: Bench) -> Outcome | None:
    """The outcome of a check in which something that the GPU has not was asked for; ``None`` without that.

    Args:
        outcome: What the check made of it; it may have taken the refusal for the submission's own.
        bench: The bench that it ran on.
    """
    refusal = next((fault for fault in bench.refusals if isinstance(fault, NotPortable)), None)
    return None if refusal is None else _skipped(outcome, refusal)


def held_against_cpu(outcome: Outcome, bench: Bench, on_cpu: Outcome) -> Outcome:
    """What stands of an outcome that is no pass, once the CPU has spoken.

    Args:
        outcome: The GPU's.
        bench: The bench that it ran on.
        on_cpu: The same check with the same seed on the CPU.
    """
    beside = Evidence("the same check on the CPU", str(on_cpu.verdict), note=on_cpu.summary)
    both = msgspec.structs.replace(outcome, evidence=(*outcome.evidence, beside))
    if outcome.verdict not in open_verdicts(bench) or on_cpu.verdict in (
        outcome.verdict,
        Verdict.ERROR,
        Verdict.SKIP,
    ):
        return both
    if bench.refusals:
        return _skipped(both, NotPortable.by(bench.refusals[0]))
    if outcome.verdict is Verdict.UNBOUND:
        return msgspec.structs.replace(
            both, verdict=Verdict.SKIP, summary=f"{NotPortable.WORDS}: {outcome.summary}"
        )
    summary = f"{on_cpu.verdict} on the CPU, and otherwise on the GPU: {outcome.summary}"
    return msgspec.structs.replace(both, verdict=Verdict.WARN, summary=summary)


def _skipped(outcome: Outcome, refusal: NotPortable) -> Outcome:
    told = Evidence(
        "asked of the GPU", refusal.what, file=refusal.file, line=refusal.line, output=refusal.output,
        note="Written for NumPy and judged on CuPy: --backend cpu judges it.",
    )  # fmt: skip
    kept = (told, *(each for each in outcome.evidence if each.ok is not False))
    at = f" at {refusal.file}:{refusal.line}" if refusal.file and refusal.line else ""
    summary = f"{NotPortable.WORDS}: {refusal.what}{at}"
    return msgspec.structs.replace(outcome, verdict=Verdict.SKIP, summary=summary, evidence=kept)
