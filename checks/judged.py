"""What of a submission was judged at all: that nothing failed says little where nothing was seen."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.passing import GENERIC_IDS, Whole, not_judged
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome

__all__ = ["required", "unjudged", "whole"]


def required(task: Task) -> dict[str, tuple[str, ...]]:
    """What every submission has to have → ids of the checks that judge what it answers."""
    if task.answers:
        return dict(task.answers)
    own = tuple(check.id for check in task.checks if not (check.optional or check.id in GENERIC_IDS))
    return {task.title: own} if own else {}


def whole(task: Task) -> Whole:
    """What submissions of a task are judged by."""
    return Whole({check.id: check.version for check in task.checks}, required(task))


def unjudged(task: Task, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What was required of a submission and not judged by any check that ran.

    Args:
        task: Its task.
        outcomes: What its checks found; what none of them could have judged is not asked for.
    """
    return not_judged(required(task), outcomes)
