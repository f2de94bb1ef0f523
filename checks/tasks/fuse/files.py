"""The generic checks as they are for CUDA sources: parsing, repeats, and what needs a GPU."""

from __future__ import annotations

import numpy as np

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.grammar import broken, parse
from judge_tui.checks.cuda.repairs import lines_in_front
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sources import is_side_program
from judge_tui.checks.tasks.fuse.asking import Asked, Question, ask, served, usual
from judge_tui.checks.tasks.fuse.correct import draw
from judge_tui.checks.tasks.fuse.subject import Subject, subject_of
from judge_tui.checks.verdict import Verdict

__all__ = ["loads", "own_tests", "purity", "throughput"]

#: What answers the challenge in the submission's place.
_FRAMEWORKS = ("torch/", "ATen/", "c10/", "tensorflow/", "faiss/", "raft/")


@check(
    "loads",
    "parses",
    establishes="Every CUDA source parses as it is, holds a kernel, and builds on no framework.",
    host=True,
)
def loads(bench: Bench, found: Findings) -> str:
    """Parse every source with the CUDA grammar; what no compiler could read is told with its line."""
    subject = subject_of(bench)
    for repair in subject.mended.repairs:
        if repair.kind not in ("header", "library"):
            markdown = repair.file not in subject.sources
            found.claim(
                f"{repair.file} is a CUDA source", False, measured=repair.what, file=repair.file,
                line=repair.line, otherwise=Verdict.WARN if markdown else Verdict.FAIL,
            )  # fmt: skip
    for file, data in subject.mended.files.items():
        _parsed(found, file, data)
    _kernels(found, subject)
    for file, included in subject.reading.includes.items():
        for text, line in included:
            if text.strip('<>"').startswith(_FRAMEWORKS):
                beside = is_side_program(file)
                found.claim(
                    "no framework", False, measured=text, file=file, line=line,
                    otherwise=Verdict.WARN if beside else Verdict.FAIL,
                )  # fmt: skip
    bad = found.wrong
    if bad is not None:
        where = f" ({bad.file}:{bad.line})" if bad.file and bad.line else ""
        return f"{bad.quantity}: {bad.measured}{where}"
    kernels, hosts = len(subject.reading.kernels), len(subject.reading.hosts)
    count = len(subject.mended.files)
    read = "1 source parses" if count == 1 else f"{count} sources parse"
    one, other = ("" if number == 1 else "s" for number in (kernels, hosts))
    return f"{read}: {kernels} kernel{one}, {hosts} host function{other}"


def _parsed(found: Findings, file: str, data: bytes) -> None:
    """The grammar expands no macros: what it stumbles over is evidence, the compiler decides."""
    before = lines_in_front(data)
    lines = data.count(b"\n") - before
    wrong = list(broken(parse(data)))
    found.claim(f"{file} is read", True, measured=lines, unit="lines", file=file)
    for line, text in wrong:
        found.note("not understood without its macros", text, file=file, line=max(1, line - before))


def _kernels(found: Findings, subject: Subject) -> None:
    kernels = subject.reading.kernels
    first = kernels[0] if kernels else None
    found.claim(
        "kernels", bool(kernels), measured=len(kernels), limit="at least one",
        file=first.file if first else next(iter(subject.mended.files)), line=first.line if first else 1,
    )  # fmt: skip


@check(
    "purity",
    "inputs and repeats",
    establishes="The logits stay as they are, a second launch gives the same bits, no earlier one matters.",
    version=2,
    budget=240,
)
def purity(bench: Bench, found: Findings) -> str:
    """Launch on one input, on another, on the first again, and on the first in a process of its own."""
    settled = served(bench)
    launcher = settled.launcher
    K = usual(settled, 10)
    rng = bench.rng("inputs")
    one = Question("an input", draw(rng, 1, 1200), K)
    other = Question("another input", draw(rng, 2, 777), K)
    first, _between, second = ask(bench, settled, [one, other, one])
    (alone,) = ask(bench, settled, [one])
    if first.read is None or first.refused:
        raise Skipped(f"the launch gives no answer to compare: {first.wrong}")
    file, line = launcher.file, launcher.line or None
    for quantity, again in (("after another launch", second), ("in a process of its own", alone)):
        if again.undecided:
            found.note(f"the answer {quantity}", "not run: the time was up")
            continue
        same = _same(first, again)
        found.claim(
            f"the answer {quantity}", same, measured="same bits" if same else again.wrong or "another answer",
            limit="same bits", file=file, line=line,
        )  # fmt: skip
    touched = [event for each in (first, second, alone) for event in each.answer.events
               if event.kind == "input_written"]  # fmt: skip
    found.claim(
        "the logits", not touched, measured=touched[0].text if touched else "unchanged", limit="unchanged",
        file=file, line=line,
    )  # fmt: skip
    bad = found.wrong
    return f"{bad.quantity}: {bad.measured}" if bad else "logits untouched, launches repeat bit for bit"


def _same(one: Asked, other: Asked) -> bool:
    if one.read is None or other.read is None:
        return False
    chances = [each.probabilities.view(np.uint32) for each in (one.read, other.read)]
    return bool(
        np.array_equal(one.read.indices, other.read.indices) and np.array_equal(chances[0], chances[1])
    )


@check(
    "throughput",
    "seconds per launch",
    establishes="How long a launch takes at the stated sizes, as a ratio to a copy of the same bytes.",
    budget=20,
)
def throughput(bench: Bench, found: Findings) -> str:
    """The emulator's time says nothing about a GPU's."""
    subject_of(bench)
    raise Skipped("needs a GPU: the emulator's time says nothing about a card's")


@check(
    "own_tests",
    "its own tests",
    establishes="How many of the submission's own test programs pass.",
    budget=20,
    host=True,
)
def own_tests(bench: Bench, found: Findings) -> str:
    """CUDA programs with a main of their own run on a card only."""
    subject = subject_of(bench)
    programs = [f for f in subject.reading.functions if f.short == "main"]
    if not programs:
        raise Skipped("no test program among its sources")
    names = ", ".join(dict.fromkeys(each.file for each in programs))
    raise Skipped(
        f"needs a GPU: {names} {'is a CUDA program' if len(programs) == 1 else 'are CUDA programs'}"
    )
