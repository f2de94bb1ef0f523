"""Whether a submission passed as a whole, by its outcomes alone: neither NumPy nor its task is loaded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from judge_tui.checks.verdict import Outcome, Verdict

__all__ = ["GENERIC_IDS", "Whole", "not_judged", "passed"]

#: Ids of the checks that every task has.
GENERIC_IDS = frozenset({"loads", "size", "purity", "own_tests", "throughput"})

_NOT_JUDGED = frozenset({Verdict.UNBOUND, Verdict.SKIP})
#: How the summary of every check begins where there is no submission.
_NOTHING = "no submission"


class Whole(msgspec.Struct, frozen=True):
    """What a submission of a task is judged by.

    Attributes:
        checks: Check id → its version, of all checks.
        required: What every submission has to have → the checks that judge it, as ``answers`` of
            :class:`~judge_tui.checks.task.Task` has them.
    """

    checks: dict[str, int]
    required: dict[str, tuple[str, ...]]


def not_judged(required: Mapping[str, tuple[str, ...]], outcomes: Iterable[Outcome]) -> tuple[str, ...]:
    """What was required of a submission and not judged by any check that ran.

    Args:
        required: As :class:`Whole` has it.
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
        for name, checks in required.items()
    }
    return tuple(name for name, ran in asked.items() if ran and not any(ran))


def _judged(outcome: Outcome, word: str) -> bool:
    """Whether it came to a verdict, and some measurement of it that could fail is about ``word``."""
    if outcome.verdict in _NOT_JUDGED:
        return False
    return not word or any(word in item.quantity for item in outcome.evidence if item.ok is not None)


def passed(whole: Whole, outcomes: Iterable[Outcome]) -> bool | None:
    """Whether ``check`` would exit 0 on a submission with all of its checks; ``None`` where that is not told.

    A failure tells. A pass is told only where every check has come to an outcome of its present version, no
    engine broke, and everything required was judged.

    Args:
        whole: What submissions of the task are judged by.
        outcomes: What checks found of the submission.
    """
    found = {
        outcome.check: outcome
        for outcome in outcomes
        if whole.checks.get(outcome.check) == outcome.version and outcome.verdict is not Verdict.ERROR
    }
    if any(outcome.verdict is Verdict.FAIL for outcome in found.values()):
        return False
    if found.keys() != whole.checks.keys() or not_judged(whole.required, found.values()):
        return None
    return True
