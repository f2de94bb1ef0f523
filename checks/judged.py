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
    verdicts = {
        outcome.check: outcome.verdict
        for outcome in outcomes
        if not (outcome.verdict is Verdict.SKIP and outcome.summary.startswith(_NOTHING))
    }
    return tuple(
        name
        for name, checks in required(task).items()
        if (ran := [verdicts[check] for check in checks if check in verdicts]) and _NOT_JUDGED.issuperset(ran)
    )
