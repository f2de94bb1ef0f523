"""The generic checks that mean something else for CUDA sources, or nothing."""

from __future__ import annotations

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings, check
from judge_tui.checks.cuda.grammar import broken, parse
from judge_tui.checks.sources import is_side_program
from judge_tui.checks.tasks.fuse.subject import Subject, subject_of
from judge_tui.checks.verdict import Verdict

__all__ = ["loads"]

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
        if repair.kind != "header":
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
    bad = next((item for item in found.evidence if item.ok is False), None)
    if bad is not None:
        where = f" ({bad.file}:{bad.line})" if bad.file and bad.line else ""
        return f"{bad.quantity}: {bad.measured}{where}"
    kernels, hosts = len(subject.reading.kernels), len(subject.reading.hosts)
    count = len(subject.mended.files)
    read = "1 source parses" if count == 1 else f"{count} sources parse"
    return f"{read}: {kernels} kernels, {hosts} host functions"


def _parsed(found: Findings, file: str, data: bytes) -> None:
    """The grammar expands no macros: what it stumbles over is evidence, the compiler decides."""
    lines = data.count(b"\n")
    wrong = list(broken(parse(data)))
    found.claim(f"{file} is read", True, measured=lines, unit="lines", file=file)
    for line, text in wrong:
        found.note("not understood without its macros", text, file=file, line=line)


def _kernels(found: Findings, subject: Subject) -> None:
    kernels = subject.reading.kernels
    first = kernels[0] if kernels else None
    found.claim(
        "kernels", bool(kernels), measured=len(kernels), limit="at least one",
        file=first.file if first else next(iter(subject.mended.files)), line=first.line if first else 1,
    )  # fmt: skip
