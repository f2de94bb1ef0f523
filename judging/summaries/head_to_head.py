"""The head-to-head report: a ranking; per task grades, what is good and what is not, who wins and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace

from judge_tui.judging.ranking import mean, ranked, wins
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.comparing import BY_SCORES, compared, deciding, winner_of
from judge_tui.judging.summaries.gathered import Gathered, OfTask
from judge_tui.judging.summaries.noted import anchor_of, excerpts
from judge_tui.judging.summaries.parts import Cell, Criteria, Heading, Part, Prose, Report, Table
from judge_tui.judging.summaries.plots import scores_of
from judge_tui.judging.summaries.tables import attempts, beside_people, dimensions, of_submission, points_of

__all__ = ["head_to_head"]


def head_to_head(found: Gathered) -> Report:
    """Set any number of submissions side by side, task by task, and rank their models.

    Args:
        found: What was read of them.
    """
    decided: dict[str, list[Criteria]] = {}
    code = [one for of in found.tasks.values() for judged in of.judged.values() for one in excerpts(judged)]
    shown = {one.anchor for one in code}
    parts: list[Part] = []
    for task, of in found.tasks.items():
        models = of.present(found.models)
        made = compared(found, of, models) if len(models) > 1 else []
        if told := deciding(made):
            decided[task] = told
        parts += _of_task(of, models, made, shown)
    parts += attempts(found.attempts)
    if code:
        parts += [Heading("Lines that notes are about", 2, "lines"), *code]
    ranking = _ranking(found, decided)
    if ranking:
        parts = [*ranking, *parts]
    if not parts:
        parts = [Prose("Nobody has scored or compared these submissions yet.")]
    titles = " vs ".join(found.models.values())
    parts = [*map(Prose, found.remarks), *parts]
    tasks = {task: of.rubric.title for task, of in found.tasks.items()}
    return Report(
        "head-to-head", titles, dict(found.models), tasks, found.judges, found.newest, tuple(parts),
        tuple(found.faults),
    )  # fmt: skip


def _of_task(
    of: OfTask, models: Sequence[str], made: Sequence[Criteria], shown: Collection[str]
) -> list[Part]:
    parts: list[Part] = [Heading(of.rubric.title, 2, anchor_of(of.task))]
    judged = [of.judged[model] for model in models if model in of.judged]
    if judged:
        parts += filter(None, (dimensions(of, judged), scores_of(of, judged), beside_people(of, judged)))
    # scores by dimension stand in the table above
    told = [replace(each, lines=()) if each.source == BY_SCORES else each for each in made]
    parts += [each for each in told if each.lines or each.winner]
    for one in judged:
        parts.append(Heading(one.title, 3, anchor_of(of.task, one.model)))
        parts += of_submission(one, shown)
    return parts


def _ranking(found: Gathered, decided: dict[str, list[Criteria]]) -> list[Part]:
    """Models by the mean of their points, and who won which task."""
    points = {
        model: {task: of.judged[model].points for task, of in found.tasks.items() if model in of.judged}
        for model in found.models
    }
    means = {model: mean(row.values()) for model, row in points.items()}
    parts: list[Part] = []
    if any(value is not None for value in means.values()):
        won = wins(points)
        rows = tuple(
            (
                Cell(str(place)),
                Cell(found.models[model]),
                *(points_of(found, model, task) for task in found.tasks),
                Cell(figure(means[model]), strong=place == 1),
                Cell(f"{won[model]:.3g}"),
            )
            for place, model in enumerate(ranked(means), 1)
        )
        head = ("", "Model", *(of.task for of in found.tasks.values()), "Mean", "Won")
        caption = "Points of 100; the mean is over the tasks with points, and a shared lead is a shared task."
        parts += [
            Heading("Ranking", 2, "ranking"),
            Table(head, rows, frozenset(range(2, len(head))), caption),
        ]
    if decided:
        parts += [Heading("Winners by task", 2, "winners"), _winners(found, decided)]
    return parts


def _winners(found: Gathered, decided: dict[str, list[Criteria]]) -> Table:
    """Who won which task, by how much and why; where several have said so, the first one counts."""
    several = any(len(told) > 1 for told in decided.values())
    rows = tuple(
        (
            Cell(found.tasks[task].rubric.title, anchor_of(task)),
            Cell(winner_of(one), strong=one is told[0]),
            Cell("" if one.margin is None else f"+{one.margin}"),
            Cell(one.differentiator),
            *([Cell(one.source or one.judge)] if several else []),
        )
        for task, told in decided.items()
        for one in told
    )
    won = Counter(told[0].winner for told in decided.values())
    caption = f"Tasks won: {', '.join(f'{who} {count}' for who, count in won.most_common())}."
    if several:
        caption += " Where several have said who won, the one that says by how much counts, and is set off."
    head = ("Task", "Winner", "Margin", "Key differentiator", *(["Said by"] if several else []))
    return Table(head, rows, frozenset({2}), caption)
