"""Several rounds in one: who stands where over all of them, and who won what in which."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from judge_tui.judging.ranking import mean, ranked
from judge_tui.judging.rounds import Round
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.comparing import winner_of
from judge_tui.judging.summaries.gathered import Gathered
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Cell, Criteria, Heading, Part, Prose, Report, Table
from judge_tui.judging.summaries.round_summary import decided_by, overall, scoreboard
from judge_tui.judging.summaries.tables import attempts

__all__ = ["combined"]

_Told = Mapping[str, Sequence[Criteria]]


def combined(rounds: Sequence[tuple[Round, Gathered]]) -> Report:
    """Sum several rounds up.

    Args:
        rounds: Each with what was read of it, the earliest first; at least one.
    """
    models: dict[str, str] = {}
    tasks: dict[str, str] = {}
    for _, found in rounds:
        models |= found.models
        tasks |= {task: of.rubric.title for task, of in found.tasks.items()}
    told = [{task: decided_by(found, of, one) for task, of in found.tasks.items()} for one, found in rounds]
    remarks = dict.fromkeys(remark for _, found in rounds for remark in found.remarks)
    parts: list[Part] = [
        *map(Prose, remarks),
        Heading("Ranking over all rounds", 2, "ranking"),
        _ranking(rounds, models, told),
        Heading("Winners", 2, "winners"),
        _winners(rounds, told),
    ]
    for (one, found), winners in zip(rounds, told, strict=True):
        parts.append(Heading(one.title, 2, anchor_of("round", one.id)))
        if found.tasks:
            table = scoreboard(found, winners)
            # what they lead to stands in the summary of the round
            rows = tuple(tuple(Cell(cell.text, strong=cell.strong) for cell in row) for row in table.rows)
            parts.append(Table(table.head, rows, table.numbers, one.day))
            parts.append(Prose(overall(found, winners, one)))
        else:
            parts.append(Prose("Nobody has scored or compared anything of this round yet."))
    parts += attempts(
        {(each.model, each.task): each for _, found in rounds for each in found.attempts}.values()
    )
    judges = tuple(sorted({judge for _, found in rounds for judge in found.judges}))
    newest = max((one.day or found.newest for one, found in rounds), default="")
    faults = tuple(dict.fromkeys(fault for _, found in rounds for fault in found.faults))
    return Report("combined", _title(rounds), models, tasks, judges, newest, tuple(parts), faults)


def _title(rounds: Sequence[tuple[Round, Gathered]]) -> str:
    titles = [one.title for one, _ in rounds]
    return f"Combined: {'; '.join(titles)}" if len(titles) <= 2 else f"{len(titles)} rounds combined"


def _ranking(
    rounds: Sequence[tuple[Round, Gathered]], models: Mapping[str, str], told: Sequence[_Told]
) -> Table:
    """Models × rounds, by the mean of their points, then by the tasks that they won."""
    means = {model: mean(_points(rounds, model)) for model in models}
    won = {
        model: sum(
            bool(each) and each[0].winner == found.models.get(model)
            for (_, found), winners in zip(rounds, told, strict=True)
            for each in winners.values()
        )
        for model in models
    }
    order = sorted(ranked(means), key=lambda model: (means[model] is None, -(means[model] or 0), -won[model]))
    rows = tuple(
        (
            Cell(str(place)),
            Cell(models[model]),
            *(_of_round(one, found, model) for one, found in rounds),
            Cell(figure(means[model]), strong=place == 1),
            Cell(str(won[model])),
        )
        for place, model in enumerate(order, 1)
    )
    head = ("", "Model", *(one.title for one, _ in rounds), "Mean", "Won")
    caption = (
        "The mean is over all tasks with points, each once; won are tasks, in every round that has them."
    )
    return Table(head, rows, frozenset({0, len(head) - 2, len(head) - 1}), caption)


def _points(rounds: Sequence[tuple[Round, Gathered]], model: str) -> list[float | None]:
    """Points on each task, those of the latest round that has any: the same card may be in several."""
    by_task: dict[str, float | None] = {}
    for _, found in rounds:
        for task, of in found.tasks.items():
            if model in of.judged and (points := of.judged[model].points) is not None:
                by_task[task] = points
    return list(by_task.values())


def _of_round(one: Round, found: Gathered, model: str) -> Cell:
    """The judge's own grade for a round, and its points; else the letters of its tasks."""
    judged = [of.judged[model] for of in found.tasks.values() if model in of.judged]
    points = mean(each.points for each in judged)
    letters = Counter(each.letters for each in judged if each.letters)
    every = ", ".join(letter + (f" ×{n}" if n > 1 else "") for letter, n in sorted(letters.items()))
    told = (figure(points) if points is not None else "", one.grades.get(model, every))
    text = " ".join(filter(None, told))
    return Cell(text, anchor_of("round", one.id)) if text else Cell("–")


def _winners(rounds: Sequence[tuple[Round, Gathered]], told: Sequence[_Told]) -> Table:
    rows = tuple(
        (
            Cell(one.title, anchor_of("round", one.id)),
            Cell(found.tasks[task].rubric.title),
            Cell(winner_of(each[0]) if each else "–", strong=bool(each)),
            Cell(f"+{each[0].margin}" if each and each[0].margin else ""),
            Cell(each[0].differentiator if each else ""),
        )
        for (one, found), winners in zip(rounds, told, strict=True)
        for task, each in winners.items()
    )
    return Table(("Round", "Task", "Winner", "Margin", "Key differentiator"), rows, frozenset({3}))
