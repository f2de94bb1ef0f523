"""The standings: who is ahead and whether that is real, how far judges agree, and what sways them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from judge_tui.checks.attempts import attempt_of
from judge_tui.judging.attempt_figures import STALE
from judge_tui.judging.ranking import mean
from judge_tui.judging.statistics.comparisons import Comparison, of_matchup, of_points
from judge_tui.judging.summaries.figures_of_judges import (
    agreements,
    judges_by_pairs,
    lengths,
    points_by_judge,
    seats,
    widest_cells,
)
from judge_tui.judging.summaries.figures_of_models import differences, ranking, wins
from judge_tui.judging.summaries.gathered import Gathered
from judge_tui.judging.summaries.observed import Seated, points_by_sheet, seated, seats_of
from judge_tui.judging.summaries.parts import Heading, Part, Prose, Report
from judge_tui.judging.summaries.tables import attempts

__all__ = ["standings"]

_COUNTED = (
    "All attempts count for their model in the rankings, and their mean in the differences; agreement, seats "
    "and length look at first attempts."
)


def standings(found: Gathered, every: Gathered | None = None) -> Report:
    """Say what the figures of some models can bear; what they cannot is a sentence.

    NumPy is loaded when this is called, and not before.

    Args:
        found: What was read of them: one judge, one model or no matchup will do.
        every: The same with all of their attempts, which count for their models in what compares models.
    """
    draws = seated(found)
    answers = points_by_sheet(found)
    rated = found if every is None else every
    points = {sheet: _by_model(found, given) for sheet, given in points_by_sheet(rated).items()}
    matchups = _of_models(found, _matchups(rated, draws))
    scores = [each for sheet, given in points.items() for each in of_points(*sheet, given)]
    titles = _titles(found, points, matchups)
    by_matchups, by_points = _marked(titles, _compared_before(rated)), _marked(titles, _scored_before(rated))
    parts: list[Part] = [*map(Prose, rated.remarks)]
    for title, anchor, named, comparisons in (
        ("Ranking by matchups", "ranking-matchups", by_matchups, matchups),
        ("Ranking by points", "ranking-points", by_points, scores),
    ):
        parts += [Heading(title, 2, anchor), *ranking(anchor, named, comparisons)]
        parts += wins(anchor, named, comparisons)
    parts += [Heading("Differences in points", 2, "differences"), *differences(by_points, points)]
    parts += [Heading("Agreement of judges", 2, "agreement"), *agreements(found, answers)]
    parts += [*widest_cells(found), *judges_by_pairs(found, answers), *points_by_judge(found, answers)]
    parts += [Heading("Seats", 2, "seats"), *seats(draws, _matchups(found, draws))]
    parts += [Heading("Length", 2, "length"), *lengths(found, answers)]
    parts += attempts(found.attempts, _COUNTED)
    tasks = {task: of.rubric.title for task, of in found.tasks.items()}
    title = f"Standings: {', '.join(titles.values())}"
    return Report(
        "standings", title, titles, tasks, found.judges, found.newest, tuple(parts),
        tuple(found.faults),
    )  # fmt: skip


def _marked(titles: Mapping[str, str], stale: Collection[str]) -> dict[str, str]:
    """The titles, with a mark where figures of the model are about files that have changed since."""
    return {model: f"{title} {STALE}" if model in stale else title for model, title in titles.items()}


def _scored_before(found: Gathered) -> set[str]:
    """Models with points that were given to other files than those that are there now."""
    return {
        _model(found, one.model) for of in found.tasks.values() for one in of.judged.values() if one.stale
    }


def _compared_before(found: Gathered) -> set[str]:
    """Models in matchups that were decided on other files than those that are there now."""
    return {
        _model(found, model)
        for task, of in found.tasks.items()
        for _, one in of.matchups
        if found.decided_before(task, one)
        for model in one.models
    }


def _model(found: Gathered, name: str) -> str:
    """The model that an attempt counts for, where it was not named itself."""
    return name if name in found.models else attempt_of(name)[0]


def _titles(
    found: Gathered, points: Mapping[tuple[str, str], Mapping[str, float]], matchups: list[Comparison]
) -> dict[str, str]:
    """Model → title, of those as well of which only further attempts have a word."""
    met = [model for given in points.values() for model in given]
    met += [model for each in matchups for model in each.models]
    return {
        model: found.models.get(model) or found.workspace.model_title(model)
        for model in (*found.models, *met)
    }


def _by_model(found: Gathered, given: Mapping[str, float]) -> dict[str, float]:
    """Points of models on a sheet: of several attempts their mean."""
    models = dict.fromkeys(_model(found, name) for name in given)
    means = {
        model: mean(value for name, value in given.items() if _model(found, name) == model)
        for model in models
    }
    return {model: value for model, value in means.items() if value is not None}


def _of_models(found: Gathered, comparisons: list[Comparison]) -> list[Comparison]:
    """Comparisons of attempts as those of their models; what compares a model with itself is none."""
    made = []
    for each in comparisons:
        one, other = (_model(found, name) for name in each.models)
        if attempt_of(one)[0] != attempt_of(other)[0]:
            first, second = sorted((one, other))
            winner, left = (_model(found, name) for name in (each.winner, each.left))
            made.append(replace(each, models=(first, second), winner=winner, left=left))
    return made


def _matchups(found: Gathered, draws: list[Seated]) -> list[Comparison]:
    return [
        each
        for task, of in found.tasks.items()
        for judge, one in of.matchups
        for each in of_matchup(task, judge, one, seats_of(task, judge, one, draws))
    ]
