"""Where the submissions differ: checks that gave other verdicts, or decided by figures far apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from judge_tui.checks.verdict import SEVERITY, Evidence, Outcome, Verdict
from judge_tui.judging.timings import is_timing
from judge_tui.tui.look.figures import amount

__all__ = ["FACTOR", "Difference", "decisive", "difference", "differences", "figure_of"]

#: Figures less apart than this are the same finding: every draw measures a little else.
FACTOR = 2.0
#: Figures below this share of their limits are noise beside each other.
_FAR_WITHIN = 0.1


class Difference(Struct, frozen=True):
    """A check and what it found of each submission.

    Attributes:
        check: Its id.
        outcomes: One per submission, in their order; ``None`` where it has not run.
        verdicts: Whether the verdicts differ.
        figures: Whether the figures that decided differ.
    """

    check: str
    outcomes: tuple[Outcome | None, ...]
    verdicts: bool
    figures: bool


def decisive(outcome: Outcome) -> Evidence | None:
    """The figure that decided: the first outside its limit, else the first that has one, else the first."""
    measured = [item for item in outcome.evidence if item.measured is not None]
    outside = [item for item in measured if item.ok is False]
    limited = [item for item in measured if item.limit is not None]
    return next(iter((*outside, *limited, *measured)), None)


def figure_of(outcome: Outcome, room: int) -> str:
    """The figure that decided, with unit and limit as far as they fit; the summary where there is none."""
    item = decisive(outcome)
    if item is None:
        return outcome.summary
    value = amount(item.measured, item.unit, 3)
    limited = f"{value} (limit {amount(item.limit, digits=3)})"
    if isinstance(item.limit, float | int) and len(limited) < room:
        value = limited
    return f"{value}  {item.quantity}"


def differences(outcomes: Mapping[tuple[str, str], Outcome], models: Sequence[str]) -> list[Difference]:
    """Every check of two or three submissions, those with differences first, the gravest on top.

    Args:
        outcomes: By model and check.
        models: The submissions, in order.
    """
    checks = sorted({check for _, check in outcomes})
    rows = [difference(check, [outcomes.get((model, check)) for model in models]) for check in checks]
    return sorted(rows, key=lambda row: (not row.verdicts, not row.figures, _worst(row), row.check))


def difference(check: str, found: Sequence[Outcome | None]) -> Difference:
    """What a check found of each submission, and in what that differs."""
    there = [outcome for outcome in found if outcome is not None]
    verdicts = len({outcome.verdict for outcome in there}) > 1
    figures = any(_apart(one, other) for n, one in enumerate(there) for other in there[n + 1 :])
    return Difference(check, tuple(found), verdicts, figures)


def _worst(row: Difference) -> int:
    return min((SEVERITY[o.verdict] for o in row.outcomes if o is not None), default=len(Verdict))


def _apart(one: Outcome, other: Outcome) -> bool:
    """Whether two outcomes have measured the same quantity and got something else."""
    first = decisive(one)
    if first is None or (first.ok is None and first.limit is None):
        # a figure that is held against nothing has decided nothing
        return False
    if one.host != other.host and is_timing(one.check, first):
        # two machines, and nothing of the submissions
        return False
    named = [item for item in other.evidence if item.quantity == first.quantity]
    second = next((item for item in named if item.measured is not None), None)
    if second is None or first.unit != second.unit:
        return False
    a, b = first.measured, second.measured
    if not isinstance(a, int | float) or not isinstance(b, int | float):
        # NaN and true are figures, the words of an exception are none
        return a != b and not any(" " in str(figure) for figure in (a, b))
    return not _within_noise(first, second) and not _near(float(a), float(b))


def _near(a: float, b: float) -> bool:
    if a == b:
        return True
    low, high = sorted((abs(a), abs(b)))
    return a * b > 0 and high < FACTOR * low


def _within_noise(*items: Evidence) -> bool:
    """Errors far below their limits: rounding, of which nothing follows."""
    return all(
        item.ok is True
        and isinstance(item.measured, float)
        and isinstance(item.limit, float)
        and abs(item.measured) < _FAR_WITHIN * item.limit
        for item in items
    )
