"""Wrong launches that read memory which nobody has written."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.checks.cuda.emulator import Event
from judge_tui.checks.tasks.fuse.asking import Asked

__all__ = ["read_unwritten"]

_KIND = "uninitialized_read"


def read_unwritten(wrong: Sequence[Asked], asked: Sequence[Asked]) -> str:
    """What a wrong launch reads that nobody has written, as a clause; empty where right ones do so too.

    Args:
        wrong: Wrong answers, each of which must show it.
        asked: All answers.
    """
    seen = [_seen(each) for each in wrong]
    if not all(seen) or any(each.right and _seen(each) for each in asked):
        return ""
    first = seen[0][0]
    place = f" ({first.file}:{first.line})" if first.file and first.line else ""
    return f"{first.text}{place}"


def _seen(asked: Asked) -> list[Event]:
    return [event for event in asked.answer.events if event.kind == _KIND]
