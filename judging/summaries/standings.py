"""The standings: who is ahead and whether that is real, how far judges agree, and what sways them."""

from __future__ import annotations

from judge_tui.judging.statistics.comparisons import Comparison, of_matchup, of_points
from judge_tui.judging.summaries.figures_of_judges import (
    agreements,
    judges_by_pairs,
    lengths,
    seats,
    widest_cells,
)
from judge_tui.judging.summaries.figures_of_models import differences, ranking, wins
from judge_tui.judging.summaries.gathered import Gathered
from judge_tui.judging.summaries.observed import Seated, points_by_sheet, seated, seats_of
from judge_tui.judging.summaries.parts import Heading, Part, Prose, Report

__all__ = ["standings"]


def standings(found: Gathered) -> Report:
    """Say what the figures of some models can bear; what they cannot is a sentence.

    NumPy is loaded when this is called, and not before.

    Args:
        found: What was read of them: one judge, one model or no matchup will do.
    """
    draws = seated(found)
    points = points_by_sheet(found)
    matchups = _matchups(found, draws)
    scores = [each for sheet, given in points.items() for each in of_points(*sheet, given)]
    parts: list[Part] = [Prose(found.provenance)] if found.provenance else []
    for title, anchor, comparisons in (
        ("Ranking by matchups", "ranking-matchups", matchups),
        ("Ranking by points", "ranking-points", scores),
    ):
        parts += [Heading(title, 2, anchor), *ranking(anchor, found.models, comparisons)]
        parts += wins(anchor, found.models, comparisons)
    parts += [Heading("Differences in points", 2, "differences"), *differences(found.models, points)]
    parts += [Heading("Agreement of judges", 2, "agreement"), *agreements(found, points)]
    parts += [*widest_cells(found), *judges_by_pairs(found.judges, points)]
    parts += [Heading("Seats", 2, "seats"), *seats(draws, matchups)]
    parts += [Heading("Length", 2, "length"), *lengths(found, points)]
    titles = {task: of.rubric.title for task, of in found.tasks.items()}
    title = f"Standings: {', '.join(found.models.values())}"
    return Report(
        "standings", title, dict(found.models), titles, found.judges, found.newest, tuple(parts),
        tuple(found.faults),
    )  # fmt: skip


def _matchups(found: Gathered, draws: list[Seated]) -> list[Comparison]:
    return [
        each
        for task, of in found.tasks.items()
        for judge, one in of.matchups
        for each in of_matchup(task, judge, one, seats_of(task, judge, one, draws))
    ]
