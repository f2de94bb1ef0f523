"""What compilers say, as file and line: nvcc's front end, ptxas, NVRTC, GCC and Clang."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

__all__ = ["Diagnostic", "diagnostics", "worst"]

Severity = Literal["error", "warning"]

#: file(line): error: text — NVIDIA's front end, with a number or not
_EDG = re.compile(
    r"^(?P<file>[^\s():][^():]*)\((?P<line>\d+)\): (?:catastrophic )?(?P<kind>error|warning)"
    r"(?: #(?P<number>[\w-]+))?:? (?P<text>.+)$"
)
#: file:line:column: error: text — GCC and Clang
_GCC = re.compile(
    r"^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?:\d+:)? (?:fatal )?(?P<kind>error|warning): (?P<text>.+)$"
)
#: What NVIDIA's front end finds where nothing stands any more
_AT_END = re.compile(r"^At end of source: (?P<kind>error|warning)(?: #(?P<number>[\w-]+))?:? (?P<text>.+)$")
#: ptxas error : text; nvcc fatal : text; nvcc error : text
_TOOL = re.compile(
    r"^(?P<tool>ptxas|nvcc|nvlink|cicc)(?: (?P<file>[^,]+), line (?P<line>\d+);)?"
    r"\s+(?P<kind>fatal|error|warning)\s*: (?P<text>.+)$"
)
_MOST = 60


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One message of a compiler.

    Attributes:
        severity: Whether it stops the compilation.
        text: The message.
        file: As the compiler names it; empty where it names none.
        line: 1-based; 0 where there is none.
    """

    severity: Severity
    text: str
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}" if self.file and self.line else self.text


def diagnostics(output: str) -> tuple[Diagnostic, ...]:
    """Read a compiler's output; the same message is told once, as for two architectures.

    Args:
        output: What it printed.
    """
    found: dict[Diagnostic, None] = {}
    for line in output.splitlines():
        if told := _read(line.strip()):
            found.setdefault(told)
        if len(found) >= _MOST:
            break
    return tuple(found)


def _read(line: str) -> Diagnostic | None:
    for pattern in (_EDG, _GCC, _TOOL, _AT_END):
        if match := pattern.match(line):
            parts = match.groupdict()
            severity: Severity = "warning" if parts["kind"] == "warning" else "error"
            text = " ".join(parts["text"].split())
            if parts.get("tool"):
                # the line is one of the assembly, not of the source
                return Diagnostic(severity, f"{parts['tool']}: {text}")
            if "file" not in parts:
                return Diagnostic(severity, f"at the end of the source: {text}")
            return Diagnostic(severity, text, parts["file"].removeprefix("./"), int(parts["line"]))
    return None


def worst(found: Iterable[Diagnostic]) -> Diagnostic | None:
    """The first error, else the first warning."""
    return min(found, key=lambda each: each.severity != "error", default=None)
