"""Plots of what stands in a report: what is measured, of whom, in which unit; not how it is drawn."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from judge_tui.checks.verdict import Curve, Evidence, Outcome
from judge_tui.judging.summaries.gathered import Judged, OfTask
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import (
    Axis,
    Bars,
    Curves,
    Group,
    Interval,
    Intervals,
    Matrix,
    Trace,
)

if TYPE_CHECKING:
    from judge_tui.judging.statistics.comparisons import WinMatrix
    from judge_tui.judging.statistics.davidson import Ratings

__all__ = ["FEWEST_DIMENSIONS", "curves_of", "matrix_of", "scores_of", "strengths_of"]

#: With less there is nothing to see that a table does not say at a glance.
FEWEST_DIMENSIONS = 2
_FEWEST_MODELS = 3
_FEWEST_POINTS = 2

#: Quantity, its place among those of that name, and the axes: what makes two curves one plot.
_Key = tuple[str, int, str, str, bool, bool]


def scores_of(of: OfTask, judged: Sequence[Judged]) -> Bars | None:
    """Scores by dimension and model; ``None`` where fewer than two dimensions are scored.

    Args:
        of: The task.
        judged: The models, in their order; those without a score are left out.
    """
    scored = [one for one in judged if any(one.scores(each.id) for each in of.rubric.dimensions)]
    groups = []
    for dimension in of.rubric.dimensions:
        given = [one.scores(dimension.id) for one in scored]
        if any(given):
            means = tuple(sum(scores) / len(scores) if scores else None for scores in given)
            groups.append(Group(dimension.title, means))
    if len(groups) < FEWEST_DIMENSIONS:
        return None
    axis = Axis("Points", "of 100", 0.0, 100.0)
    names = tuple(one.title for one in scored)
    anchor = anchor_of("plot", of.task, "scores")
    return Bars(f"{of.rubric.title}: scores by dimension", anchor, axis, names, tuple(groups))


def strengths_of(where: str, titles: Mapping[str, str], rated: Ratings) -> Intervals:
    """The ranking with its intervals.

    Args:
        where: Anchor of the ranking.
        titles: Model → title.
        rated: Strengths that there are.
    """
    marks = tuple(
        Interval(titles[model], one.value, one.low, one.high) for model, one in rated.strengths.items()
    )
    return Intervals(
        "Strengths with their 95 % intervals",
        anchor_of("plot", where, "strengths"),
        Axis("Strength", "log odds; 0 is the mean of the models"),
        marks,
        "Intervals are of each strength; whether two models differ, the interval of their difference says.",
    )


def matrix_of(where: str, titles: Mapping[str, str], counts: WinMatrix) -> Matrix | None:
    """Who won against whom; ``None`` where two models are all that there are.

    Args:
        where: Anchor of the heading that it stands under.
        titles: Model → title.
        counts: Wins and ties.
    """
    if len(counts.models) < _FEWEST_MODELS:
        return None
    names = tuple(titles[model] for model in counts.models)
    anchor = anchor_of("plot", where, "wins")
    return Matrix(
        "Wins of the row against the column",
        anchor,
        names,
        counts.wins,
        counts.ties,
        "The stronger the colour, the larger the share that the row won; a tie counts half.",
    )


def curves_of(
    task: str, check: str, titles: Sequence[str], found: Sequence[Mapping[str, Outcome]]
) -> Iterator[Curves]:
    """The curves of a check, those of the same quantity of several submissions in one plot.

    Args:
        task: Its id.
        check: Its id.
        titles: Of the models.
        found: Their outcomes, in that order.
    """
    plots: dict[_Key, list[Trace]] = {}
    for title, outcomes in zip(titles, found, strict=True):
        if check in outcomes:
            for key, curve in _keyed(outcomes[check].evidence):
                plots.setdefault(key, []).append(Trace(title, curve.points))
    shown = {key: traces for key, traces in plots.items() if any(_is_drawn(trace, key) for trace in traces)}
    for number, (key, traces) in enumerate(shown.items(), 1):
        quantity, _, x, y, log_x, log_y = key
        anchor = anchor_of("plot", task, check, "" if number == 1 else str(number))
        axes = Axis(x, log=log_x), Axis(y, log=log_y)
        yield Curves(f"{check}: {quantity}", anchor, *axes, tuple(traces))


def _keyed(evidence: Sequence[Evidence]) -> Iterator[tuple[_Key, Curve]]:
    seen: Counter[str] = Counter()
    for item in evidence:
        if (curve := item.curve) is not None:
            seen[item.quantity] += 1
            place = seen[item.quantity]
            yield (item.quantity, place, curve.x, curve.y, curve.log_x, curve.log_y), curve


def _is_drawn(trace: Trace, key: _Key) -> bool:
    """Whether there are points enough on these axes."""
    *_, log_x, log_y = key
    there = [
        y
        for x, y in trace.points
        if y is not None and math.isfinite(y) and (x > 0 or not log_x) and (y > 0 or not log_y)
    ]
    return len(there) >= _FEWEST_POINTS
