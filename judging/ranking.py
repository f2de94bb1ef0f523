"""Who leads: means over tasks and tasks won."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

__all__ = ["mean", "ranked", "wins"]


def mean(values: Iterable[float | None]) -> float | None:
    """Mean of the values there are; ``None`` when there is none: missing is never 0."""
    present = [value for value in values if value is not None]
    return sum(present) / len(present) if present else None


def wins(points: Mapping[str, Mapping[str, float | None]]) -> dict[str, float]:
    """Tasks won per model; those who share the lead share the task.

    Args:
        points: Model → task → points; tasks with points of one model only are won by nobody.
    """
    tally = dict.fromkeys(points, 0.0)
    for task in {task for row in points.values() for task in row}:
        scored = {model: p for model, row in points.items() if (p := row.get(task)) is not None}
        if len(scored) > 1:
            leaders = [model for model, p in scored.items() if p == max(scored.values())]
            for model in leaders:
                tally[model] += 1 / len(leaders)
    return tally


def ranked(means: Mapping[str, float | None]) -> tuple[str, ...]:
    """Models by mean, the highest first; those without one at the end; equals by name."""
    return tuple(sorted(means, key=lambda model: (means[model] is None, -(means[model] or 0.0), model)))
