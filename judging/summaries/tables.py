"""Tables that several reports have: scores by dimension, points of a task, verdicts as a judge saw them."""

from __future__ import annotations

from collections.abc import Sequence

from judge_tui.judging.card import Scorecard, letter, points
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.gathered import Gathered, Judged, OfTask
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Cell, Table

__all__ = ["beside_people", "dimensions", "figures", "points_of", "verdicts_seen"]


def dimensions(of: OfTask, judged: Sequence[Judged]) -> Table:
    """Dimensions × models, with totals and letters."""
    rows = []
    for dimension in of.rubric.dimensions:
        given = [one.scores(dimension.id) for one in judged]
        if any(given):
            means = [sum(scores) / len(scores) if scores else None for scores in given]
            rows.append((Cell(dimension.title), *figures(means, [len(scores) for scores in given])))
    totals = [one.points for one in judged]
    if any(total is not None for total in totals):
        rows.append((Cell("Points", strong=True), *figures(totals, [one.counted for one in judged])))
    if any(one.letters for one in judged):
        rows.append((Cell("Grade", strong=True), *(Cell(one.letters or "–") for one in judged)))
    head = ("Dimension", *(one.title for one in judged))
    return Table(head, tuple(rows), frozenset(range(1, len(head))))


def figures(values: Sequence[float | None], counted: Sequence[int]) -> list[Cell]:
    """Points side by side, the highest set off where not all have it."""
    best = max((value for value in values if value is not None), default=None)
    alone = sum(value == best for value in values) < len(values)
    return [
        Cell(figure(value, n), strong=value is not None and value == best and alone)
        for value, n in zip(values, counted, strict=True)
    ]


def beside_people(of: OfTask, judged: Sequence[Judged]) -> Table | None:
    """Points and letters by language models, where people have scored."""
    judges = sorted({card.judge for one in judged for card in one.machines})
    if not judges:
        return None
    rows = []
    for judge in judges:
        cards = [next((card for card in one.machines if card.judge == judge), None) for one in judged]
        rows.append((Cell(judge), *(Cell(_word(card, of)) for card in cards)))
    head = ("Language model", *(one.title for one in judged))
    return Table(
        head, tuple(rows), frozenset(range(1, len(head))), "By language models; counted in no figure."
    )


def _word(card: Scorecard | None, of: OfTask) -> str:
    if card is None:
        return "–"
    given = points(card, of.rubric)
    return " ".join(filter(None, ("" if given is None else str(given), letter(card, of.rubric)))) or "–"


def points_of(found: Gathered, model: str, task: str) -> Cell:
    """Points and letters of a model on a task, leading to what was said of it."""
    one = found.tasks[task].judged.get(model)
    if one is None:
        return Cell("–")
    told = figure(one.points, one.counted) if one.points is not None else ""
    return Cell(" ".join(filter(None, (told, one.letters))) or "–", anchor_of(task, model))


def verdicts_seen(card: Scorecard) -> Table | None:
    """The verdicts that a judge had before them when they scored."""
    if not card.checks:
        return None
    rows = tuple((Cell(seen.check), Cell(str(seen.verdict)), Cell(seen.summary)) for seen in card.checks)
    return Table(("Check", "Verdict", "What it found"), rows, caption=f"As {card.judge} saw them.")
