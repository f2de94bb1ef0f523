"""How far judges agree, where they do not, and whether seats or lengths sway them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from judge_tui.judging.attempt_figures import STALE
from judge_tui.judging.statistics.comparisons import Comparison
from judge_tui.judging.statistics.estimate import Effect
from judge_tui.judging.summaries.figures_of_models import effect_cells, interval, p_value, signed, untold
from judge_tui.judging.summaries.gathered import Gathered
from judge_tui.judging.summaries.observed import Apart, Seated, dimension_scores, lines_of, widest
from judge_tui.judging.summaries.parts import Cell, Part, Prose, Table

__all__ = ["agreements", "judges_by_pairs", "lengths", "points_by_judge", "seats", "widest_cells"]

#: Submissions of which each judge's points are told.
_MOST_ROWS = 60
_Points = Mapping[tuple[str, str], Mapping[str, float]]


def agreements(found: Gathered, points: _Points) -> Iterator[Part]:
    """Agreement of judges per dimension, and on the points.

    Args:
        found: What was read.
        points: Task, judge → model → points.
    """
    from judge_tui.judging.statistics.agreement import FEWEST_UNITS, agreement

    totals: dict[tuple[str, str], dict[str, float]] = {}
    for (task, judge), given in points.items():
        for model, value in given.items():
            totals.setdefault((task, model), {})[judge] = value
    made = {
        title: agreement(cells.values())
        for title, cells in (*dimension_scores(found).items(), ("Points", totals))
    }
    shown = {title: one for title, one in made.items() if one.n}
    if not shown:
        yield Prose(
            "No two judges have scored the same submission, so that nothing can be said of agreement."
        )
        return
    rows = tuple(
        (
            Cell(title, strong=title == "Points"),
            Cell("–" if one.alpha is None else _share(one.alpha.value)),
            Cell("–" if one.alpha is None else f"{_share(one.alpha.low)} … {_share(one.alpha.high)}"),
            Cell("–" if one.apart is None else f"{one.apart:.1f}"),
            Cell(str(one.judges)),
            Cell(str(one.n)),
        )
        for title, one in shown.items()
    )
    head = ("Dimension", "Alpha", "95 % interval", "Apart", "Judges", "n")
    caption = (
        "Krippendorff's alpha: 1 is the same scores, 0 is chance. Apart: mean absolute difference of two "
        "judges, in points. n: submissions that at least two scored."
    )
    yield Table(head, rows, frozenset(range(1, 6)), caption)
    if any(one.n < FEWEST_UNITS for one in shown.values()):
        yield Prose(f"Where n is less than {FEWEST_UNITS}, alpha says nothing and is left out.")
    still = [title for title, one in shown.items() if one.alpha is None and one.n >= FEWEST_UNITS]
    if still:
        yield Prose(
            f"Scores, or differences of judges, hardly vary, and alpha is left out: {', '.join(still)}."
        )


def _share(value: float) -> str:
    """A share or a coefficient for a reader."""
    text = f"{value:.2f}"
    return text.replace("-", "−") if float(text) else "0.00"


def widest_cells(found: Gathered) -> Iterator[Part]:
    """The five cells in which two judges are furthest apart, with what both wrote."""
    cells = widest(found)
    if not cells:
        return
    rows = tuple(
        (
            Cell(found.tasks[cell.task].rubric.title),
            Cell(found.models[cell.model]),
            Cell(cell.dimension),
            *(Cell(_word(cell, at)) for at in (0, 1)),
            Cell(str(cell.scores[1] - cell.scores[0])),
        )
        for cell in cells
    )
    head = ("Task", "Model", "Dimension", "Lower", "Higher", "Apart")
    yield Table(head, rows, frozenset({5}), f"Where two judges are furthest apart; n = {len(cells)}.")


def _word(cell: Apart, at: int) -> str:
    comment = " ".join(cell.comments[at].split())
    mark = f" {STALE}" if cell.stale[at] else ""
    return f"{cell.scores[at]}{mark} ({cell.judges[at]}): {comment or 'no comment'}"


def points_by_judge(found: Gathered, points: _Points) -> Iterator[Part]:
    """What each judge gave, submission by submission, where several have given points.

    Args:
        found: What was read.
        points: Task, judge → model → points.
    """
    rows = []
    judges = sorted({judge for _, judge in points})
    for task, of in found.tasks.items():
        for model, one in of.judged.items():
            given = [points.get((task, judge), {}).get(model) for judge in judges]
            stale = {card.judge for card in one.cards if one.outdated(card)}
            if sum(value is not None for value in given) > 1:
                rows.append((
                    Cell(of.rubric.title),
                    Cell(found.models[model]),
                    *(
                        Cell(_given(value, stale=judge in stale))
                        for judge, value in zip(judges, given, strict=True)
                    ),
                ))  # fmt: skip
    if rows:
        more = (
            f" The first {_MOST_ROWS} of {len(rows)}; all are in `scores`." if len(rows) > _MOST_ROWS else ""
        )
        caption = f"What each judge gave where several did; n = {len(rows)}.{more}"
        head = ("Task", "Model", *map(found.named, judges))
        yield Table(head, tuple(rows[:_MOST_ROWS]), frozenset(range(2, len(head))), caption)


def _given(value: float | None, *, stale: bool) -> str:
    if value is None:
        return "–"
    return f"{value:g} {STALE}" if stale else f"{value:g}"


def judges_by_pairs(found: Gathered, points: _Points) -> Iterator[Part]:
    """How every two judges' points on the same submissions differ.

    Args:
        found: What was read.
        points: Task, judge → model → points.
    """
    from judge_tui.judging.statistics.paired import judges_apart

    judges = sorted({judge for _, judge in points})
    made = [
        (f"{found.named(one)} − {found.named(other)}", *judges_apart(points, one, other))
        for one, other in combinations(judges, 2)
    ]
    made = [row for row in made if row[1].n]
    if not made:
        return
    rows = tuple(
        (
            Cell(name),
            *effect_cells(effect),
            Cell("–" if apart is None else f"{apart:.1f}"),
            Cell(str(effect.n)),
        )
        for name, effect, apart in made
    )
    head = ("Judges", "Difference", "95 % interval", "p", "Apart", "n")
    caption = (
        "Points of the first less those of the second; apart: without the signs; n: submissions of both."
    )
    yield Table(head, rows, frozenset(range(1, 6)), caption)
    yield from untold({name: effect for name, effect, _ in made})


def seats(draws: Sequence[Seated], comparisons: Sequence[Comparison]) -> Iterator[Part]:
    """Whether who sits left is judged otherwise.

    Args:
        draws: Blind draws whose names are revealed.
        comparisons: Matchups; those with known seats count.
    """
    from judge_tui.judging.statistics.effects import seat_effect_on_points, seat_effect_on_wins

    if not draws:
        yield Prose("Nothing was judged blind and revealed (n = 0), so that nothing can be said of seats.")
        return
    ahead = [draw.ahead for draw in draws if draw.ahead is not None]
    won, more = seat_effect_on_wins(comparisons), seat_effect_on_points(ahead)
    yield Prose(_seated_wins(won))
    yield Prose(_seated_points(more))


def _seated_wins(won: Effect) -> str:
    share = won.estimate
    if share is None:
        return f"Wins on the left: {won.told}"
    return (
        f"The left side won {share.value:.0%} of n = {won.n} blind draws with a winner (95 % interval "
        f"{share.low:.0%} … {share.high:.0%}, p {p_value(won)}; 50% is no effect)."
    )


def _seated_points(more: Effect) -> str:
    if more.estimate is None:
        return f"Points on the left: {more.told}"
    return (
        f"The leftmost got {signed(more.estimate.value)} points against the rightmost in n = {more.n} blind "
        f"draws (95 % interval {interval(more.estimate)}, p {p_value(more)})."
    )


def lengths(found: Gathered, points: _Points) -> Iterator[Part]:
    """Whether longer submissions have more points.

    Args:
        found: What was read.
        points: Task, judge → model → points.
    """
    from judge_tui.judging.statistics.effects import Sized, length_effect

    if found.published:
        yield Prose("The points are on other files than those here, so that nothing can be said of length.")
        return
    size = {
        (task, model): lines_of(one.submission)
        for task, of in found.tasks.items()
        for model, one in of.judged.items()
    }
    effect = length_effect(
        Sized(task, judge, model, size[task, model], value)
        for (task, judge), given in points.items()
        for model, value in given.items()
    )
    if effect.estimate is None:
        yield Prose(effect.told)
        return
    yield Prose(
        f"Twice the lines go with {signed(effect.estimate.value)} points (95 % interval "
        f"{interval(effect.estimate)}, p {p_value(effect)}, n = {effect.n} scores of {effect.blocks} "
        f"{effect.of}); a model that writes more may be better for other reasons."
    )
