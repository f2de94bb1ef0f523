"""What of a submission was judged at all: that nothing failed says little where nothing was seen."""

from __future__ import annotations

from collections.abc import Iterable

from judge_tui.checks.generic import GENERIC
from judge_tui.checks.task import Task
from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["required", "unjudged"]

_NOT_JUDGED = frozenset({Verdict.UNBOUND, Verdict.SKIP})
#: How the summary of every check begins where there is no submission.
_NOTHING = "no submission"


def required(task: Task) -> dict[str, tuple[str, ...]]:
    """What every submission has to have → ids of the checks that judge what it answers."""
    if task.answers:
        return dict(task.answers)
    generic = {check.id for check in GENERIC}
    own = tuple(check.id for check in task.checks if not (check.optional or check.id in generic))
    return {task.title: own} if own else {}


def unjudged(task: Task, outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What was required of a submission and not judged by any check that ran.

    Args:
        task: Its task.
        outcomes: What its checks found; what none of them could have judged is not asked for.
    """
    found = {
        outcome.check: outcome
        for outcome in outcomes
        if not (outcome.verdict is Verdict.SKIP and outcome.summary.startswith(_NOTHING))
    }
    asked = {
        name: [
            _judged(found[check], word)
            for check, _, word in (each.partition(": ") for each in checks)
            if check in found
        ]
        for name, checks in required(task).items()
    }
    return tuple(name for name, ran in asked.items() if ran and not any(ran))


def _judged(outcome: Outcome, word: str) -> bool:
    """Whether it came to a verdict, and some measurement of it that could fail is about ``word``."""
    if outcome.verdict in _NOT_JUDGED:
        return False
    return not word or any(word in item.quantity for item in outcome.evidence if item.ok is not None)
