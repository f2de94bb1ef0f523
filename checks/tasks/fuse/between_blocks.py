"""Wrong launches in which one block touches what another writes, with nothing between them."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.cuda.emulator.cases import Severity
from judge_tui.checks.tasks.fuse.asking import Asked

__all__ = ["raced"]

#: What the emulator calls it.
_KIND = "race_between_blocks"


def raced(wrong: Sequence[Asked], asked: Sequence[Asked]) -> str:
    """Which blocks of the first wrong launch race, as a clause; empty where that is not what is wrong.

    Args:
        wrong: Wrong answers, each of which must show a race.
        asked: All answers; right ones must show none that rests on luck.
    """
    severity: Severity = "fault" if all(_seen(each, "fault") for each in wrong) else "hazard"
    lucky = severity == "hazard" and any(each.right and _seen(each, severity) for each in asked)
    if lucky or not all(_seen(each, severity) for each in wrong):
        return ""
    first = _seen(wrong[0], severity)[0]
    places = {f"{file}:{line}": None for file, line in (
        (first.file, first.line), (first.other_file, first.other_line)) if file and line}  # fmt: skip
    return f"{first.text} ({', '.join(places)})" if places else first.text


def _seen(asked: Asked, severity: Severity) -> list[Event]:
    return [each for each in asked.answer.events if each.kind == _KIND and each.severity == severity]
