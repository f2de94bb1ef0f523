"""What came of one test of a submission's own, however it was run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from judge_tui.checks.bench import Bench
from judge_tui.checks.calling.remote import Worker
from judge_tui.checks.faults import Fault, Raised, TimedOut

__all__ = ["IMPORT", "NO_TIME", "Ending", "Tested", "allowance", "moved", "of_fault"]

#: How the title of what is told of a file as a whole ends.
IMPORT = ": import"
NO_TIME = "the time for all tests ran out"
_EACH = 60.0
#: What a test raises to say that it does not apply.
_SAID = frozenset({"SkipTest", "Skipped"})
#: What pytest finds wrong by itself: what does not raise, what passes against expectation.
_PYTEST_SAYS = frozenset({"", "Failed"})
#: Not permitted, permission denied, file too large, no space left, read-only file system.
_REFUSED = re.compile(r"\[Errno (?:1|13|27|28|30)\]")
_USAGE = re.compile(r"^usage\b|the following arguments are required", re.I | re.M)
_LONGEST = 300


class Ending(StrEnum):
    """How a test ended."""

    PASSED = "passed"
    FAILED = "failed"
    OWN_RULES = "by rules of its own"
    TIMED_OUT = "timed out"
    EXPECTED = "expected to fail"
    SKIPPED = "skipped"
    NOT_RUN = "not run"


@dataclass(frozen=True, slots=True)
class Tested:
    """What came of a test.

    Attributes:
        title: File, name and arguments, for people.
        ending: How it ended.
        told: Why it did not pass, as a clause.
        seconds: Wall time, where it passed.
        output: What it printed, and its traceback.
        file: Where the cause is: relative to the submission's folder.
        line: 1-based.
        marked: Whether a mark in its own file says when it is run, or what is expected of it.
    """

    title: str
    ending: Ending
    told: str = ""
    seconds: float = 0.0
    output: str = ""
    file: str | None = None
    line: int | None = None
    marked: bool = False


def allowance(bench: Bench) -> float:
    """Seconds that the next test may take; the last share of the time is for telling what happened."""
    return min(_EACH, bench.budget / 3, bench.left - bench.budget / 20)


def moved(worker: Worker) -> Worker:
    """A worker that goes on in a writable copy of the submission, where there is room for one."""
    worker.ask("move", budget=30.0)
    return worker


def of_fault(title: str, fault: Fault, file: str, line: int | None) -> Tested:
    """What it says about a test that a fault ended it; what is not the submission's fault is told so.

    Args:
        title: Of the test.
        fault: What ended it.
        file: Where the test is.
        line: 1-based.
    """
    if isinstance(fault, TimedOut):
        return Tested(title, Ending.TIMED_OUT, fault.message, file=file, line=line)
    if isinstance(fault, Raised):
        if fault.kind in _SAID:
            return Tested(title, Ending.SKIPPED, _skips(fault.detail), 0.0, fault.output, file, line)
        if fault.kind == "XFailed":
            return Tested(title, Ending.EXPECTED, fault.detail, 0.0, fault.output, file, line)
        if reason := _excuse(fault):
            return Tested(title, Ending.NOT_RUN, reason, 0.0, fault.output, file, line)
    if fault.file and fault.line:
        file, line = fault.file, fault.line
    return Tested(title, Ending.FAILED, _told(fault), 0.0, fault.output, file, line)


def _skips(reason: str) -> str:
    return f"it skips itself ({reason})" if reason else "it skips itself"


def _excuse(fault: Raised) -> str:
    """Why a test that raised says nothing about the submission; empty when it does."""
    if fault.kind == "ModuleNotFoundError":
        return fault.detail
    if fault.kind == "DeadlineExceeded":
        return "it went past the deadline that hypothesis sets, on this machine"
    if fault.kind == "EOFError" and "reading a line" in fault.detail:
        return "it reads from the keyboard"
    if fault.kind == "SystemExit" and fault.detail not in ("", "0") and _USAGE.search(fault.output):
        return "it wants arguments on its command line"
    if fault.kind == "PermissionError" or (fault.kind == "OSError" and _REFUSED.search(fault.detail)):
        return f"the sandbox refuses what it does ({fault.detail})"
    return ""


def _told(fault: Fault) -> str:
    if isinstance(fault, Raised) and fault.kind == "SystemExit":
        return f"exited with status {fault.detail}" if fault.detail.isdigit() else f"exited: {fault.detail}"
    message = fault.message
    if isinstance(fault, Raised) and fault.kind in _PYTEST_SAYS:
        message = fault.detail
    text = " ".join(message.split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
