"""The two-way report: task by task what sets two submissions apart, who is ahead in what, and who wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from judge_tui.judging.matchup import TIE
from judge_tui.judging.summaries.comparing import BY_SCORES, compared, deciding, disagreements, winner_of
from judge_tui.judging.summaries.gathered import Gathered, OfTask
from judge_tui.judging.summaries.noted import anchor_of, excerpts
from judge_tui.judging.summaries.parts import Cell, Criteria, Heading, Part, Prose, Report, Table
from judge_tui.judging.summaries.plots import scores_of
from judge_tui.judging.summaries.tables import attempts, beside_people, of_submission, totals

__all__ = ["two_way"]


def two_way(found: Gathered) -> Report:
    """Compare two models, or the submissions of any number side by side.

    Args:
        found: What was read of them.
    """
    models = list(found.models)
    parts: list[Part] = []
    shown: list[str] = []
    decided: dict[str, tuple[Criteria, Criteria]] = {}
    said: dict[str, list[Criteria]] = {}
    for task, of in found.tasks.items():
        made = compared(found, of, models)
        if not made:
            continue
        shown.append(task)
        parts.append(Heading(of.rubric.title, 2, anchor_of(task)))
        told = deciding(made)
        for each in made:
            if each.lines or each in told:
                parts += [each, *_figures(of, models, each)]
        judged = [of.judged[model] for model in models if model in of.judged]
        parts += filter(None, [beside_people(of, judged)])
        if told:
            decided[task] = told[0], made[0]
            said[task] = told
    titles = [found.models[model] for model in models]
    if decided:
        taken = map(Prose, disagreements(found, said))
        parts = [Heading("Winners", 2, "winners"), _tally(found, titles, decided), *taken, *parts]
    tasks = {task: of.rubric.title for task, of in found.tasks.items()}
    parts += attempts(found.attempts)
    parts += _said([found.tasks[task] for task in shown])
    if not parts:
        parts = [Prose("Nobody has compared these submissions yet, nor scored them all.")]
    parts = [*map(Prose, found.remarks), *parts]
    return Report(
        "two-way", " vs ".join(titles), dict(found.models), tasks, found.judges, found.newest, tuple(parts),
        tuple(found.faults),
    )  # fmt: skip


def _figures(of: OfTask, models: Sequence[str], one: Criteria) -> Iterator[Part]:
    """What the scores come to, below a comparison by them."""
    if one.source == BY_SCORES:
        judged = [of.judged[model] for model in models]
        yield from filter(None, (totals(of, judged), scores_of(of, judged)))


def _said(tasks: Sequence[OfTask]) -> Iterator[Part]:
    """What was said of each submission, and the lines of it: what cells lead to."""
    judged = [one for of in tasks for one in of.judged.values()]
    if not judged:
        return
    code = [each for one in judged for each in excerpts(one)]
    shown = {each.anchor for each in code}
    yield Heading("What was said of each", 2, "said")
    for of in tasks:
        for one in of.judged.values():
            yield Heading(f"{of.rubric.title}: {one.title}", 3, anchor_of(of.task, one.model))
            yield from of_submission(one, shown)
    if code:
        yield Heading("Lines that notes are about", 2, "lines")
        yield from code


def _tally(found: Gathered, titles: list[str], decided: dict[str, tuple[Criteria, Criteria]]) -> Table:
    """Per task the criteria that each is ahead in and the winner, with a line of sums."""
    rows = []
    sums: Counter[str] = Counter()
    won: Counter[str] = Counter()
    for task, (one, by) in decided.items():
        sums.update(by.edges)
        won[one.winner] += 1
        rows.append((
            Cell(found.tasks[task].rubric.title, anchor_of(task)),
            *(Cell(str(by.edges[title]), strong=one.winner == title) for title in titles),
            Cell(str(by.edges[TIE])),
            Cell(_won(one), strong=True),
            Cell(one.differentiator),
        ))  # fmt: skip
    leaders = [title for title in titles if won[title] == max(won[each] for each in titles) > 0]
    of = f"{len(decided)} task{'s' if len(decided) != 1 else ''}"
    total = f"{leaders[0]}, {won[leaders[0]]} of {of}" if len(leaders) == 1 else f"shared, {of}"
    rows.append((
        Cell("All tasks", strong=True),
        *(Cell(str(sums[title])) for title in titles),
        Cell(str(sums[TIE])),
        Cell(total, strong=True),
        Cell(""),
    ))  # fmt: skip
    head = ("Task", *titles, "Tie", "Winner", "Key differentiator")
    return Table(head, tuple(rows), frozenset(range(1, len(titles) + 2)), "Criteria in which each is ahead.")


def _won(one: Criteria) -> str:
    return winner_of(one, f"+{one.margin}" if one.margin and one.winner != TIE else "")
