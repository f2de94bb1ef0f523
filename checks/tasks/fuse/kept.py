"""Launches that are wrong behind others alone: what stays from one to the next in a process."""

from __future__ import annotations

import re

from judge_tui.checks.bench import Bench
from judge_tui.checks.check import Findings
from judge_tui.checks.faults import Skipped
from judge_tui.checks.sources import source_text
from judge_tui.checks.tasks.fuse.asking import Asked, ask
from judge_tui.checks.tasks.fuse.trial import Settled

__all__ = ["kept_from_launches"]

_SECONDS, _LEFT, _MOST_NAMES = 20.0, 40.0, 3
_SOURCES = (".cu", ".cuh", ".h", ".hpp", ".cpp")
#: A variable of device memory, or a pointer that host code keeps.
_KEPT = re.compile(
    r"^[ \t]*(?:static[ \t]+)?"
    r"(?:__device__[ \t]+(?:(?:static|volatile|unsigned|__align__\(\d+\))[ \t]+)*\w+[ \t]+"
    r"|static[ \t]+\w+[ \t]*\*[ \t]*)(\w+)[ \t]*(?:\[|=|;)",
    re.MULTILINE,
)


def kept_from_launches(bench: Bench, found: Findings, settled: Settled, wrong: Asked) -> str:
    """Whether a wrong launch is right as the first one of a process, as a clause; empty where it is not.

    Args:
        bench: Where it is judged.
        found: Is told.
        settled: How the submission is launched.
        wrong: The answer.
    """
    if bench.left < _LEFT or wrong.answer.status in ("timed_out", "not_run"):
        return ""
    try:
        first, second = ask(bench, settled, [wrong.question] * 2, seconds=_SECONDS)
    except Skipped:
        return ""
    if not first.right:
        return ""
    again = second.right or second.undecided
    told = "right as the first launch of a process, and wrong behind others"
    told = told if again else f"{told}, the same one too"
    names = _names(bench)
    outlive = "outlives" if len(names) == 1 else "outlive"
    what = f" ({', '.join(names)} {outlive} a launch)" if names else ""
    words = f"{told}: something is not set back from launch to launch{what}"
    launcher = settled.launcher
    found.note("as the first launch", words, file=launcher.file, line=launcher.line or None)
    return words


def _names(bench: Bench) -> list[str]:
    """What outlives a launch, as the source calls it."""
    names: dict[str, None] = {}
    for file in bench.submission.files:
        if file.endswith(_SOURCES):
            text = source_text(bench.submission.read_bytes(file))
            names |= dict.fromkeys(match.group(1) for match in _KEPT.finditer(text))
    return list(names)[:_MOST_NAMES]
