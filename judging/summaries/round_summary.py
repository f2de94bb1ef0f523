"""The summary of a round: a scoreboard with winners and margins, task by task, then the judge's prose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from judge_tui.judging.matchup import TIE
from judge_tui.judging.ranking import mean
from judge_tui.judging.rounds import Passage, Round
from judge_tui.judging.rubric import half_up
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.comparing import BY_SCORES, compared, deciding, disagreements, winner_of
from judge_tui.judging.summaries.gathered import Gathered, OfTask
from judge_tui.judging.summaries.noted import CRITICAL, anchor_of, excerpts
from judge_tui.judging.summaries.parts import Cell, Criteria, Heading, Part, Prose, Report, Table
from judge_tui.judging.summaries.plots import scores_of
from judge_tui.judging.summaries.tables import (
    NO_WORDS,
    attempts,
    beside_people,
    dimensions,
    points_of,
    words_on,
)

__all__ = ["decided_by", "overall", "round_summary", "scoreboard"]

_KINDS = ("strength", CRITICAL, "weakness", "bug", "question")


def round_summary(found: Gathered, one: Round, before: tuple[Round, Gathered] | None = None) -> Report:
    """Sum a round up.

    Args:
        found: What was read of it.
        one: The round.
        before: An earlier one that it is set against.
    """
    code = [each for of in found.tasks.values() for judged in of.judged.values() for each in excerpts(judged)]
    shown = {each.anchor for each in code}
    told = {task: decided_by(found, of, one) for task, of in found.tasks.items()}
    parts: list[Part] = [*map(Prose, found.remarks)]
    if found.tasks:
        parts += [Heading("Scoreboard", 2, "scoreboard"), scoreboard(found, told)]
        parts += map(Prose, [overall(found, told, one), *disagreements(found, told)])
    parts += attempts(found.attempts)
    for task, of in found.tasks.items():
        parts += _of_task(of, told[task], one, shown)
    for passage in one.passages:
        if not passage.task:
            parts += _passage(passage, 2)
    if before is not None:
        parts += _changed(found, one, told, *before)
    if code:
        parts += [Heading("Lines that notes are about", 2, "lines"), *code]
    titles = {task: of.rubric.title for task, of in found.tasks.items()}
    judges = tuple(sorted({*found.judges, *(found.named(passage.judge) for passage in one.passages)}))
    return Report(
        "round", one.title, dict(found.models), titles, judges, one.day or found.newest, tuple(parts),
        tuple(found.faults),
    )  # fmt: skip


def decided_by(found: Gathered, of: OfTask, one: Round) -> list[Criteria]:
    """Who won a task as judges say, else as the scores do; what counts first, then what says otherwise."""
    models = of.present(found.models)
    told = deciding(compared(found, of, models)) if len(models) > 1 else []
    return sorted(told, key=lambda each: bool(one.source) and each.source != one.source)


def scoreboard(found: Gathered, told: Mapping[str, Sequence[Criteria]]) -> Table:
    """Task × models with the winner, the margin and what decided; the averages in the last row."""
    models = list(found.models)
    rows = [
        (
            Cell(of.rubric.title, anchor_of(task)),
            *(
                replace(points_of(found, model, task), strong=_won(told[task], found, model))
                for model in models
            ),
            *_winner(told[task]),
        )
        for task, of in found.tasks.items()
    ]
    means = _means(found)
    if any(value is not None for value in means.values()):
        first, by = _leader(found, means)
        rows.append((
            Cell("Average", strong=True),
            *(Cell(figure(means[model]), strong=found.models[model] == first) for model in models),
            Cell(first, strong=True),
            Cell("" if by is None else f"+{by}"),
            Cell(""),
        ))  # fmt: skip
    head = ("Task", *(found.models[model] for model in models), "Winner", "Margin", "Key differentiator")
    return Table(head, tuple(rows), frozenset((*range(1, len(models) + 1), len(models) + 2)))


def _won(told: Sequence[Criteria], found: Gathered, model: str) -> bool:
    return bool(told) and told[0].winner == found.models[model]


def _winner(told: Sequence[Criteria]) -> tuple[Cell, Cell, Cell]:
    if not told:
        return Cell("–"), Cell(""), Cell("")
    one = told[0]
    return (
        Cell(winner_of(one), strong=True),
        Cell(f"+{one.margin}" if one.margin else ""),
        Cell(one.differentiator),
    )


def _means(found: Gathered) -> dict[str, float | None]:
    """Mean of the points of each model over the tasks that all of them have points on."""
    shared = [
        of
        for of in found.tasks.values()
        if all(model in of.judged and of.judged[model].points is not None for model in found.models)
    ]
    return {model: mean(of.judged[model].points for of in shared) for model in found.models}


def _leader(found: Gathered, means: Mapping[str, float | None]) -> tuple[str, int | None]:
    """Who has the highest average, and by how much."""
    order = sorted((value for value in means.values() if value is not None), reverse=True)
    first = [model for model, value in means.items() if value == order[0]]
    if len(first) > 1:
        return TIE, None
    return found.models[first[0]], half_up(order[0] - order[1]) if len(order) > 1 else None


def overall(found: Gathered, told: Mapping[str, Sequence[Criteria]], one: Round) -> str:
    """Who won the round, in one sentence."""
    won = Counter(each[0].winner for each in told.values() if each)
    models = {found.models[model]: won[found.models[model]] for model in found.models}
    most = max(models.values(), default=0)
    leaders = [title for title, count in models.items() if count == most]
    of = f"{len(found.tasks)} task{'s' if len(found.tasks) != 1 else ''}"
    if not most:
        said = f"Nobody has said who won any of {of}."
    elif len(leaders) > 1:
        said = f"{' and '.join(leaders)} won {most} of {of} each."
    else:
        said = f"{leaders[0]} won {most} of {of}."
    grades = [f"{found.models.get(model, model)} {grade}" for model, grade in one.grades.items()]
    return f"{said} Grades over all of them, the judge's own: {', '.join(grades)}." if grades else said


def _of_task(of: OfTask, told: Sequence[Criteria], one: Round, shown: Collection[str]) -> Iterator[Part]:
    yield Heading(of.rubric.title, 2, anchor_of(of.task))
    if of.judged:
        every = list(of.judged.values())
        yield from filter(None, (dimensions(of, every), scores_of(of, every), beside_people(of, every)))
    if told:
        # scores by dimension stand in the table above
        yield replace(told[0], lines=()) if told[0].source == BY_SCORES else told[0]
    for judged in of.judged.values():
        yield Heading(judged.title, 3, anchor_of(of.task, judged.model))
        yield from words_on(judged, shown, _KINDS) or [NO_WORDS]
    for passage in one.passages:
        if passage.task == of.task:
            yield from _passage(passage, 3, of.task)


def _passage(passage: Passage, level: int, *above: str) -> Iterator[Part]:
    """The words of a judge, each part with whose they are."""
    if passage.heading:
        yield Heading(passage.heading, level, anchor_of("said", *above, passage.heading))
    for paragraph in passage.text.strip().split("\n\n"):
        if paragraph.strip():
            yield Prose(" ".join(paragraph.split()), passage.judge)
    if passage.rows:
        rows = tuple(tuple(map(Cell, row)) for row in passage.rows)
        yield Table(passage.columns, rows, caption=f"In the words of {passage.judge}.")


def _changed(
    found: Gathered, one: Round, told: Mapping[str, Sequence[Criteria]], then: Round, earlier: Gathered
) -> Iterator[Part]:
    """What is another way than in an earlier round, task by task and model by model."""
    yield Heading(f"Against “{then.title}”", 2, "against")
    tasks = [task for task in found.tasks if task in earlier.tasks]
    models = [model for model in found.models if model in earlier.models]
    rows = []
    for task in tasks:
        before = decided_by(earlier, earlier.tasks[task], then)
        cells = [_step(points_of(earlier, m, task).text, points_of(found, m, task).text) for m in models]
        winner = _step(before[0].winner if before else "–", told[task][0].winner if told[task] else "–")
        rows.append((Cell(found.tasks[task].rubric.title, anchor_of(task)), *map(Cell, (*cells, winner))))
    if not rows or not models:
        yield Prose("No task of a model was judged in both rounds.")
        return
    head = ("Task", *(found.models[model] for model in models), "Winner")
    yield Table(head, tuple(rows), caption="Before → now; what is the same stands once.")


def _step(before: str, now: str) -> str:
    return now if before == now else f"{before} → {now}"
