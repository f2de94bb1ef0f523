"""Who is stronger than whom, by how much, and whether that is more than chance."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from judge_tui.judging.statistics.comparisons import Comparison, win_matrix
from judge_tui.judging.statistics.estimate import Effect, Estimate
from judge_tui.judging.statistics.ranks import ranks, said
from judge_tui.judging.summaries.parts import Cell, Part, Prose, Table
from judge_tui.judging.summaries.plots import matrix_of, strengths_of

if TYPE_CHECKING:
    from judge_tui.judging.statistics.davidson import Ratings

__all__ = ["differences", "effect_cells", "interval", "p_value", "ranking", "signed", "untold", "wins"]

_Titles = Mapping[str, str]


def signed(value: float, digits: int = 1) -> str:
    """A difference for a reader, its sign always there."""
    text = f"{value:+.{digits}f}"
    return text.replace("-", "−") if float(text) else text[1:]


def interval(estimate: Estimate, digits: int = 1) -> str:
    """An interval of differences for a reader."""
    return f"{signed(estimate.low, digits)} … {signed(estimate.high, digits)}"


def p_value(effect: Effect) -> str:
    """A p-value for a reader."""
    if effect.p is None:
        return "–"
    return "< 0.001" if effect.p < 0.001 else f"{effect.p:.3f}"


def ranking(where: str, titles: _Titles, comparisons: Sequence[Comparison]) -> Iterator[Part]:
    """Strengths with their intervals and shared ranks, and the differences that the ranks come from.

    Args:
        where: Anchor of the heading that it stands under.
        titles: Model → title.
        comparisons: Of any of them.
    """
    from judge_tui.judging.statistics.davidson import ratings

    rated = ratings(comparisons)
    if rated.told:
        # models are named by their folders there; readers know them by their titles
        groups = _groups(titles, comparisons)
        yield Prose(groups or rated.told)
        return
    counts = win_matrix(comparisons)
    own = ranks(list(rated.strengths), rated.apart)
    rows = tuple(
        (
            Cell(said(own[model])),
            Cell(titles[model]),
            Cell(signed(strength.value, 2)),
            Cell(interval(strength, 2)),
            *(Cell(str(count)) for count in counts.of(model)),
            Cell(str(strength.n)),
        )
        for model, strength in rated.strengths.items()
    )
    head = ("Rank", "Model", "Strength", "95 % interval", "Won", "Tied", "Lost", "n")
    yield Table(head, rows, frozenset(range(2, 8)), _caption(rated))
    yield strengths_of(where, titles, rated)
    yield _apart(titles, rated)


def _groups(titles: _Titles, comparisons: Iterable[Comparison]) -> str:
    from judge_tui.judging.statistics.connected import groups

    compared = {model for each in comparisons for model in each.models}
    found = groups(compared, comparisons)
    if len(found) < 2:
        return ""
    named = "; ".join(", ".join(titles[model] for model in group) for group in found)
    return f"These groups cannot be ranked, since nobody has compared across them: {named}."


def _caption(rated: Ratings) -> str:
    told = [
        f"n = {rated.n} comparisons, of {rated.sheets} task{'s' * (rated.sheets != 1)} as judges saw them.",
        "A difference of 0.69 in strength is two wins for one loss.",
        "A rank is shared unless the interval of the difference excludes 0.",
    ]
    if rated.separated:
        told.append("Some won, or lost, all there was: how far they are from the rest is held finite.")
    return " ".join(told)


def _apart(titles: _Titles, rated: Ratings) -> Table:
    rows = []
    for one, other in combinations(rated.strengths, 2):
        difference = rated.difference(one, other)
        rows.append((
            Cell(f"{titles[one]} − {titles[other]}"),
            Cell(signed(difference.value, 2), strong=difference.excludes_zero),
            Cell(interval(difference, 2)),
            Cell(str(difference.n)),
        ))  # fmt: skip
    caption = "Differences of strength, set off where the interval excludes 0; n: comparisons of these two."
    return Table(("Models", "Difference", "95 % interval", "n"), tuple(rows), frozenset({1, 2, 3}), caption)


def wins(where: str, titles: _Titles, comparisons: Sequence[Comparison]) -> Iterator[Part]:
    """How often who won against whom, and tied.

    Args:
        where: Anchor of the heading that it stands under.
        titles: Model → title, in the order of the rows.
        comparisons: Of any of them; none give no table.
    """
    compared = {model for each in comparisons for model in each.models}
    models = [model for model in titles if model in compared]
    if not models:
        return
    counts = win_matrix(comparisons, models)
    rows = tuple(
        (
            Cell(titles[model]),
            *(
                Cell("–" if at == to else _count(counts.wins[at][to], counts.ties[at][to]))
                for to in range(len(models))
            ),
        )
        for at, model in enumerate(models)
    )
    head = ("Won against", *(titles[model] for model in models))
    caption = f"How often the model of the row won against that of the column, and ties; n = {counts.n}."
    yield Table(head, rows, frozenset(range(1, len(head))), caption)
    if (plot := matrix_of(where, titles, counts)) is not None:
        yield plot


def _count(won: int, tied: int) -> str:
    return f"{won} + {tied} tie{'s' * (tied != 1)}" if tied else str(won)


def differences(titles: _Titles, points: Mapping[tuple[str, str], Mapping[str, float]]) -> Iterator[Part]:
    """Mean differences in points of every two models that a judge scored on one task.

    Args:
        titles: Model → title.
        points: Task, judge → model → points.
    """
    from judge_tui.judging.statistics.paired import paired_difference

    found = [
        (f"{titles[one]} − {titles[other]}", effect)
        for one, other in combinations(titles, 2)
        if (effect := paired_difference(points, one, other)).n
    ]
    if not found:
        yield Prose("No judge has given points to two of these models on one task.")
        return
    rows = tuple((Cell(name), *effect_cells(effect), Cell(str(effect.n))) for name, effect in found)
    tested = sum(effect.p is not None for _, effect in found)
    caption = (
        "Points of the first less those of the second where one judge scored both on one task; n: such cases."
    )
    if tested > 1:
        caption += f" Of {tested} differences that are none, one in twenty has p ≤ 0.05 all the same."
    yield Table(("Models", "Difference", "95 % interval", "p", "n"), rows, frozenset(range(1, 5)), caption)
    yield from untold(dict(found))


def untold(found: Mapping[str, Effect]) -> Iterator[Part]:
    """Why some figures are not there, a sentence for all that lack one for the same reason."""
    reasons: dict[str, list[str]] = {}
    for name, effect in found.items():
        if effect.told:
            reasons.setdefault(effect.told, []).append(name)
    yield from (Prose(f"{'; '.join(names)}: {told}") for told, names in reasons.items())


def effect_cells(effect: Effect) -> tuple[Cell, Cell, Cell]:
    """Figure, interval and p-value of an effect; dashes where there is none."""
    if effect.estimate is None:
        return Cell("–"), Cell("–"), Cell("–")
    strong = effect.estimate.excludes_zero
    return (
        Cell(signed(effect.estimate.value), strong=strong),
        Cell(interval(effect.estimate)),
        Cell(p_value(effect)),
    )
