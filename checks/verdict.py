"""Verdicts, evidence and outcomes: what a check says, as plain values.

These are the wire and file formats of ``check --format json`` and of the outcome
cache; nothing here imports NumPy, so that a screen can show outcomes cheaply.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from enum import StrEnum

import msgspec

__all__ = [
    "BROKE",
    "CHALLENGE",
    "SEVERITY",
    "SIGNS",
    "Curve",
    "Evidence",
    "Outcome",
    "Report",
    "Verdict",
    "number",
    "worst",
]

#: How the summary of a check begins in which the submission raised, hung or ended, and nothing was measured.
BROKE = "the submission "

#: Whose fault an error is that is the challenge's own.
CHALLENGE = "challenge"


class Verdict(StrEnum):
    """What a check found."""

    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    SKIP = "skip"
    UNBOUND = "unbound"
    AMBIGUOUS = "ambiguous"
    ERROR = "error"


#: Worst first: the order in which a list of outcomes is sorted.
SEVERITY: dict[Verdict, int] = {
    Verdict.ERROR: 0,
    Verdict.FAIL: 1,
    Verdict.WARN: 2,
    Verdict.AMBIGUOUS: 3,
    Verdict.UNBOUND: 4,
    Verdict.SKIP: 5,
    Verdict.PASS: 6,
}

#: The sign that stands before a count, or before the verdict's word.
SIGNS: dict[Verdict, str] = {
    Verdict.ERROR: "‼",
    Verdict.FAIL: "✗",
    Verdict.WARN: "!",
    Verdict.AMBIGUOUS: "≈",
    Verdict.UNBOUND: "?",
    Verdict.SKIP: "–",
    Verdict.PASS: "✓",
}


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """The most severe verdict; ``pass`` when there is none."""
    return min(verdicts, key=SEVERITY.__getitem__, default=Verdict.PASS)


def number(value: float | int | str | bool | None) -> float | int | str | None:
    """A measured value as JSON can carry it: NaN and infinities become words.

    Args:
        value: Any scalar, NumPy scalars included.
    """
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return value if -(2**63) <= value < 2**63 else str(value)
    number_ = float(value)
    if math.isnan(number_):
        return "NaN"
    if math.isinf(number_):
        return "inf" if number_ > 0 else "-inf"
    kind = value.dtype.kind if hasattr(value, "dtype") else "f"
    if kind == "b":
        return str(bool(value)).lower()
    return int(value) if kind in "iu" else number_


class Curve(msgspec.Struct, frozen=True, omit_defaults=True):
    """A measured curve: ``points`` are (x, y) pairs in ascending x; y is ``None`` where it is not finite."""

    x: str
    y: str
    points: tuple[tuple[float, float | None], ...]
    log_x: bool = False
    log_y: bool = False


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measured quantity beside the limit that it is held against.

    Attributes:
        quantity: What was measured, with its metric (``"dx, relative error per row, float64"``).
        measured: The figure; words for NaN and infinities.
        limit: What it was held against, if anything.
        unit: ``""`` for ratios; ``"B"``, ``"MiB"``, ``"s"``, ``"entries"``, ….
        ok: Whether the figure is within the limit; ``None`` for evidence that decides nothing.
        file: File of the submission, relative to its folder, that the figure points at.
        line: 1-based line in that file.
        note: One sentence of explanation.
        curve: The same quantity over a parameter.
        table: Rows of cells, the first row being the head.
        output: Captured output or a traceback.
    """

    quantity: str
    measured: float | int | str | None = None
    limit: float | int | str | None = None
    unit: str = ""
    ok: bool | None = None
    file: str | None = None
    line: int | None = None
    note: str = ""
    curve: Curve | None = None
    table: tuple[tuple[str, ...], ...] = ()
    output: str = ""


class Outcome(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one check found about one submission.

    Attributes:
        model: Folder name of the model.
        task: Task id.
        check: Check id.
        verdict: The finding.
        summary: One sentence with the number that decided.
        seconds: Wall time that the check took.
        evidence: What was measured.
        seed: Seed that replays the inputs.
        version: Version of the check.
        backend: ``cpu``, ``gpu`` or ``emulator``.
        device: The device's name.
        sandbox: Measured level while it ran.
        fault: Whose fault an error is: ``challenge`` where its own code is off; empty for the engine's.
        host: Name of the machine that found it; empty where an earlier version did.
    """

    model: str
    task: str
    check: str
    verdict: Verdict
    summary: str
    seconds: float
    evidence: tuple[Evidence, ...] = ()
    seed: int = 0
    version: int = 1
    backend: str = "cpu"
    device: str = ""
    sandbox: str = ""
    fault: str = ""
    host: str = ""

    @property
    def location(self) -> tuple[str, int] | None:
        """The first file and line that the evidence points at, worst finding first."""
        for wanted in (False, None, True):
            for item in self.evidence:
                if item.ok is wanted and item.file and item.line:
                    return item.file, item.line
        return None


class Report(msgspec.Struct, frozen=True, omit_defaults=True):
    """The object that ``check --format json`` prints.

    Attributes:
        schema: 1.
        tool: The program and its version.
        backend: The first that was used.
        device: Its device.
        sandbox: Measured level.
        seed: Of the run.
        outcomes: By task, model and check.
        ended: Why the run came to an end before its end; left out where it did not.
    """

    schema: int
    tool: str
    backend: str
    device: str
    sandbox: str
    seed: int
    outcomes: tuple[Outcome, ...]
    ended: str = ""
