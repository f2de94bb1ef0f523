"""What several reports have: scores by dimension, points of a task, and what was said of a submission."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from judge_tui.judging import attempt_figures
from judge_tui.judging.attempt_figures import STALE, Attempts
from judge_tui.judging.card import Scorecard, letter, points
from judge_tui.judging.note import Kind
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.gathered import Gathered, Judged, OfTask
from judge_tui.judging.summaries.noted import anchor_of, notes_on
from judge_tui.judging.summaries.parts import Cell, Heading, Part, Prose, Table

__all__ = [
    "NO_WORDS",
    "attempts",
    "beside_people",
    "dimensions",
    "figures",
    "of_submission",
    "points_of",
    "said_by_dimension",
    "totals",
    "verdicts_seen",
    "words_on",
]

#: Stands above the words of language models, where those of people stand before them.
_BESIDE = "By language models, apart from the judges:"
#: Where nobody has written anything of a submission.
NO_WORDS = Prose("Nothing was written beside the scores.")

#: Stands for the points of a whole submission among ids of dimensions, of which none has a blank.
_TOTAL = "the total"
_KINDS: tuple[Kind, ...] = ("strength", "weakness", "bug", "question")


def dimensions(of: OfTask, judged: Sequence[Judged]) -> Table:
    """Dimensions × models, with totals and letters, each cell leading to what was said of the submission."""
    rows = []
    for dimension in of.rubric.dimensions:
        given = [one.scores(dimension.id) for one in judged]
        if any(given):
            means = [sum(scores) / len(scores) if scores else None for scores in given]
            cells = figures(means, [len(scores) for scores in given])
            rows.append((Cell(dimension.title), *_leading(cells, of, judged, dimension.id)))
    rows += _totals(of, judged)
    head = ("Dimension", *_titles(judged))
    return Table(head, tuple(rows), frozenset(range(1, len(head))))


def totals(of: OfTask, judged: Sequence[Judged]) -> Table | None:
    """Points and letters of submissions; ``None`` where nobody gave any.

    Args:
        of: The task.
        judged: The submissions, in the order of the columns.
    """
    rows = tuple(_totals(of, judged))
    head = ("In all", *_titles(judged))
    return Table(head, rows, frozenset(range(1, len(head)))) if rows else None


def _totals(of: OfTask, judged: Sequence[Judged]) -> Iterator[tuple[Cell, ...]]:
    given = [one.points for one in judged]
    if any(total is not None for total in given):
        cells = figures(given, [one.counted for one in judged])
        yield (Cell("Points", strong=True), *_leading(cells, of, judged, _TOTAL))
    if any(one.letters for one in judged):
        cells = [Cell(one.letters or "–") for one in judged]
        yield (Cell("Grade", strong=True), *_leading(cells, of, judged))


def _titles(judged: Sequence[Judged]) -> tuple[str, ...]:
    return tuple(f"{one.title} {STALE}" if one.stale else one.title for one in judged)


def _leading(cells: Sequence[Cell], of: OfTask, judged: Sequence[Judged], dimension: str = "") -> list[Cell]:
    """Cells of models, each with a word leading to what was said of its submission, or dimension."""
    return [
        cell if cell.text == "–" else replace(cell, anchor=_said_at(of.task, one, dimension))
        for cell, one in zip(cells, judged, strict=True)
    ]


def _said_at(task: str, one: Judged, dimension: str) -> str:
    """Where in a report stands what was said of a dimension; else what was said of the submission."""
    said = _reasoned(one) if dimension == _TOTAL else dimension and _said_of(one, dimension)
    return anchor_of("said", task, one.model, dimension) if said else anchor_of(task, one.model)


def _reasoned(one: Judged) -> list[Scorecard]:
    """The cards that say why their total is another than the weighted mean."""
    return [card for card in one.cards if card.overall is not None and card.overall_reason.strip()]


def _said_of(one: Judged, dimension: str) -> list[Scorecard]:
    """The cards whose word on a dimension is told: of several each with points, of one where it comments."""
    return [
        card
        for card in one.cards
        if card.comment(dimension).strip() or (len(one.cards) > 1 and card.score(dimension) is not None)
    ]


def said_by_dimension(one: Judged) -> Table | None:
    """What each judge gave for each dimension, and wrote of it; ``None`` where one judge wrote nothing."""
    several = len(one.cards) > 1
    rows = []
    for dimension in one.rubric.dimensions:
        for number, card in enumerate(_said_of(one, dimension.id)):
            score = card.score(dimension.id)
            own = anchor_of("said", one.submission.task, one.model, dimension.id) if not number else ""
            mark = f" {STALE}" if score is not None and one.outdated(card) else ""
            rows.append((
                Cell(dimension.title, own=own),
                *([Cell(card.judge)] if several else []),
                Cell("–" if score is None else f"{score}{mark}"),
                Cell(card.comment(dimension.id).strip()),
            ))  # fmt: skip
    own = anchor_of("said", one.submission.task, one.model, _TOTAL)
    for card in _reasoned(one):
        mark = f" {STALE}" if one.outdated(card) else ""
        rows.append((
            Cell("Points, the judge's own", own=own),
            *([Cell(card.judge)] if several else []),
            Cell(f"{card.overall}{mark}"),
            Cell(card.overall_reason.strip()),
        ))  # fmt: skip
        own = ""
    if not rows:
        return None
    head = ("Dimension", *(["Judge"] if several else []), "Points", "Comment")
    return Table(head, tuple(rows), frozenset({len(head) - 2}))


def attempts(
    found: Iterable[Attempts],
    others: str = "What else stands here under a model's name alone is about its first attempt.",
) -> list[Part]:
    """What the attempts of models that have several come to; nothing where there are none.

    Args:
        found: What is known of them.
        others: What the rest of the report makes of them.
    """
    rows = attempt_figures.table(found)
    if not rows:
        return []
    head, *lines = rows
    numbers = frozenset(range(attempt_figures.NUMBERS, len(head)))
    cells = tuple(tuple(map(Cell, line)) for line in lines)
    caption = f"{others} {attempt_figures.CAPTION}"
    return [Heading("Attempts", 2, "attempts"), Table(tuple(head), cells, numbers, caption)]


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
        words = [Cell(_word(card, one)) for card, one in zip(cards, judged, strict=True)]
        rows.append((Cell(judge), *_leading(words, of, judged)))
    head = ("Language model", *(one.title for one in judged))
    return Table(
        head, tuple(rows), frozenset(range(1, len(head))), "By language models; counted in no figure."
    )


def _word(card: Scorecard | None, one: Judged) -> str:
    if card is None:
        return "–"
    given = points(card, one.rubric)
    word = " ".join(filter(None, ("" if given is None else str(given), letter(card, one.rubric))))
    if not word:
        every = one.rubric.dimensions
        said = sum(card.score(dimension.id) is not None for dimension in every)
        word = f"{said} of {len(every)}" if said else "–"
    return f"{word} {STALE}" if one.outdated(card) else word


def points_of(found: Gathered, model: str, task: str) -> Cell:
    """Points and letters of a model on a task, leading to what was said of it."""
    one = found.tasks[task].judged.get(model)
    if one is None:
        return Cell("–")
    told = figure(one.points, one.counted) if one.points is not None else ""
    given = " ".join(filter(None, (told, one.letters)))
    marks = [*([STALE] if given and one.stale else ()), *(f"⚑ {verdict}" for verdict in one.verdicts)]
    return Cell(" ".join(filter(None, (given, *marks))) or "–", anchor_of(task, model))


def _called(one: Judged) -> Iterator[Prose]:
    """What each judge calls a submission as a whole, with what shows it."""
    for card, places in zip(one.cards, one.placed, strict=True):
        if card.verdict is not None:
            placed = next((each for each in places if each.note.id == card.verdict.note), None)
            why = f" – {placed.note.text.strip()}" if placed is not None and placed.note.text.strip() else ""
            where = f" ({placed.where})" if placed is not None and placed.where else ""
            yield Prose(f"⚑ {card.verdict.kind}{why}{where}", card.judge)


def of_submission(one: Judged, shown: Collection[str]) -> Iterator[Part]:
    """What judges wrote of a submission: summaries, notes, and the verdicts that they had before them.

    Args:
        one: The submission, and what was said of it.
        shown: Anchors of the lines that stand in the report.
    """
    made = words_on(one, shown, _KINDS)
    made += [table for card in one.cards if (table := verdicts_seen(card)) is not None]
    yield from made or [NO_WORDS]


def words_on(one: Judged, shown: Collection[str], kinds: Sequence[str]) -> list[Part]:
    """What judges wrote of a submission: what they call it, summaries, comments on dimensions, and notes.

    Args:
        one: The submission, and what was said of it.
        shown: Anchors of the lines that stand in the report.
        kinds: Which notes, in this order.
    """
    machines = one.by_machines
    beside: list[Part] = [] if machines is None else words_on(machines, shown, kinds)
    summaries = [Prose(card.summary.strip(), card.judge) for card in one.cards if card.summary.strip()]
    by_dimension = [table for table in (said_by_dimension(one),) if table is not None]
    own: list[Part] = [*_called(one), *summaries, *by_dimension, *notes_on(one, shown, kinds)]
    return [*own, Prose(_BESIDE), *beside] if beside else own


def verdicts_seen(card: Scorecard) -> Table | None:
    """The verdicts that a judge had before them when they scored."""
    if not card.checks:
        return None
    rows = tuple((Cell(seen.check), Cell(str(seen.verdict)), Cell(seen.summary)) for seen in card.checks)
    return Table(
        ("Check", "Verdict", "What it found"),
        rows,
        caption=f"The checks as they stood when {card.judge} scored.",
    )
