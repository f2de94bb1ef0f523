"""What a matchup could say, read off scores and measurements; the judge decides every line.

An edge is proposed only where the figures speak by themselves: a higher score, a check that one passes
and the others do not, less time or memory. Whatever hangs on an undecided verdict gets no edge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from judge_tui.checks.verdict import Evidence, Outcome, Verdict
from judge_tui.judging.card import Scorecard, points
from judge_tui.judging.matchup import TIE, Criterion
from judge_tui.judging.rubric import Rubric
from judge_tui.judging.timings import comparable

__all__ = ["Proposal", "proposed"]

#: Seconds below which a time tells nothing of who is faster.
_INSTANT_S = 0.1

#: Verdicts that rank; none of the others says that a submission is worse.
_RANK = {Verdict.PASS: 2, Verdict.WARN: 1, Verdict.FAIL: 0}
#: Units of which less is better.
_LESS = frozenset({"s", "ms", "B", "KiB", "MiB", "GiB", "KB", "MB", "GB", "B per thread"})
#: Figures that are nearer to each other than this ratio are no difference: clocks differ that much.
_APART = 1.2
_MOST_FIGURES = 12

#: Check id → outcome, of one submission.
Seen = Mapping[str, Outcome]


class Proposal(Struct, frozen=True):
    """What the figures say of a matchup.

    Attributes:
        winner: Model with the most points, ``"tie"``, or ``None`` where one has no points yet.
        margin: Points between it and the next.
        key_differentiator: What sets the winner apart most; empty when nothing does.
        criteria: Lines in which the submissions differ, each with the ``basis`` that it was read off.
    """

    winner: str | None
    margin: int | None
    key_differentiator: str
    criteria: tuple[Criterion, ...]


def proposed(
    models: Sequence[str],
    rubric: Rubric,
    cards: Mapping[str, Scorecard],
    outcomes: Mapping[str, Seen],
    titles: Mapping[str, str] | None = None,
) -> Proposal:
    """What scores and measurements propose for a matchup.

    Args:
        models: Folder names of two or three models, in the order of the columns.
        rubric: What they are scored by.
        cards: Model → the judge's card.
        outcomes: Model → its outcomes by check id.
        titles: Check id → what the check is called; the id itself by default.
    """
    titles = titles or {}
    fair = comparable([outcomes.get(model, {}) for model in models])
    outcomes = dict(zip(models, fair, strict=True))
    given = [points(cards[model], rubric) for model in models]
    known = [value for value in given if value is not None]
    winner, margin = None, None
    if len(known) == len(models):
        first, second = sorted(known, reverse=True)[:2]
        winner = models[given.index(first)] if first > second else TIE
        margin = first - second if first > second else None
    scores = tuple(_scores(models, rubric, cards))
    verdicts = tuple(_verdicts(models, outcomes, titles))
    figures = tuple(_figures(models, outcomes, titles))
    key = _key_differentiator(winner, scores, verdicts) if winner not in (None, TIE) else ""
    return Proposal(winner, margin, key, (*scores, *verdicts, *figures))


def _scores(models: Sequence[str], rubric: Rubric, cards: Mapping[str, Scorecard]) -> Iterator[Criterion]:
    found: list[tuple[tuple[float, float], Criterion]] = []
    for dimension in rubric.dimensions:
        given = {model: cards[model].score(dimension.id) for model in models}
        known = {model: score for model, score in given.items() if score is not None}
        if len(known) < len(models) or len(set(known.values())) == 1:
            continue
        best, *rest = sorted(known.values(), reverse=True)
        edge = max(known, key=known.__getitem__) if best > rest[0] else None
        note = f"{best - rest[0]} more" if edge else ""
        cells = {model: str(score) for model, score in known.items()}
        # what sets the first apart from the next counts more than how far the last is behind
        weight = dimension.weight * (best - rest[0]), dimension.weight * (best - min(rest))
        criterion = Criterion(dimension.title, cells, edge, note=note, basis=f"dimension:{dimension.id}")
        found.append((weight, criterion))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return (criterion for _, criterion in found)


def _verdicts(
    models: Sequence[str], outcomes: Mapping[str, Seen], titles: Mapping[str, str]
) -> Iterator[Criterion]:
    for check in _shared(models, outcomes):
        found = {model: outcomes[model][check] for model in models}
        ranks = {model: _RANK.get(outcome.verdict) for model, outcome in found.items()}
        ranked = {model: rank for model, rank in ranks.items() if rank is not None}
        if len(set(ranked.values())) < 2:
            continue
        leaders = [model for model, rank in ranked.items() if rank == max(ranked.values())]
        edge = leaders[0] if len(leaders) == 1 and len(ranked) == len(models) else None
        alone = all(found[model].verdict is Verdict.FAIL for model in models if model != edge)
        note = ("the only one that passes" if len(models) > 2 else "passes, the other fails") if alone else ""
        cells = {model: f"{outcome.verdict}: {outcome.summary}" for model, outcome in found.items()}
        passes = edge is not None and found[edge].verdict is Verdict.PASS
        yield Criterion(
            titles.get(check, check), cells, edge, note=note if passes else "", basis=f"check:{check}"
        )


def _figures(
    models: Sequence[str], outcomes: Mapping[str, Seen], titles: Mapping[str, str]
) -> Iterator[Criterion]:
    count = 0
    for check in _shared(models, outcomes):
        if any(outcomes[model][check].verdict not in _RANK for model in models):
            continue
        by_quantity = {model: _measured(outcomes[model][check]) for model in models}
        for quantity, item in by_quantity[models[0]].items():
            items = {model: by_quantity[model].get(quantity) for model in models}
            values = {model: each[0] for model, each in items.items() if each is not None}
            if len(values) < len(models) or count >= _MOST_FIGURES:
                continue
            low, high = sorted(values.values())[0], sorted(values.values())[-1]
            if low < 0 or high == low or (low > 0 and high / low < _APART):
                continue
            count += 1
            name = quantity[0] if quantity[0] != check else ""
            yield Criterion(
                ": ".join(part for part in (titles.get(check, check), name) if part),
                {model: _figure(value, quantity[1]) for model, value in values.items()},
                _least(values) if quantity[1] in _LESS else None,
                note="less" if quantity[1] in _LESS and _least(values) else "",
                basis=f"figure:{check}/{item[1]}",
            )


def _measured(outcome: Outcome) -> dict[tuple[str, str], tuple[float, str]]:
    """(quantity, unit) → figure and quantity, of what has a unit; ratios and errors are within noise."""
    found: dict[tuple[str, str], tuple[float, str]] = {}
    for item in outcome.evidence:
        value = _number(item)
        # what took milliseconds takes others the next time
        timed = outcome.check == "throughput"
        instant = not timed and item.unit == "s" and value is not None and value < _INSTANT_S
        if value is not None and item.unit and not instant:
            found.setdefault((item.quantity, item.unit), (value, item.quantity))
    return found


def _number(item: Evidence) -> float | None:
    value = item.measured
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # what is no number is no figure to be less or more
    return float(value) if math.isfinite(value) else None


def _least(values: Mapping[str, float]) -> str | None:
    first, second = sorted(values.values())[:2]
    if first == second or (first > 0 and second / first < _APART):
        return None
    return min(values, key=values.__getitem__)


def _figure(value: float, unit: str) -> str:
    unit = _one(unit) if value == 1 else unit
    return f"{value:.0f} {unit}" if value == int(value) and abs(value) < 1e15 else f"{value:.4g} {unit}"


def _one(unit: str) -> str:
    """The unit of one: 1 file, 1 entry; symbols (s, ms, B) have no plural."""
    if unit.endswith("ies"):
        return unit[:-3] + "y"
    return unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit


def _shared(models: Sequence[str], outcomes: Mapping[str, Seen]) -> list[str]:
    first = outcomes.get(models[0], {})
    return [check for check in first if all(check in outcomes.get(model, {}) for model in models)]


def _key_differentiator(
    winner: str | None, scores: Sequence[Criterion], verdicts: Sequence[Criterion]
) -> str:
    """What sets the winner apart: the dimension that weighs most, and checks that it alone passes."""
    parts: list[str] = []
    ahead = next((criterion for criterion in scores if criterion.edge == winner), None)
    if ahead is not None and winner is not None:
        others = " and ".join(cell for model, cell in ahead.cells.items() if model != winner)
        parts.append(f"{ahead.name} ({ahead.cells[winner]} against {others})")
    passed = [criterion.name for criterion in verdicts if criterion.edge == winner and criterion.note]
    if passed:
        parts.append(f"passes {', '.join(passed[:3])}")
    return "; ".join(parts) + "." if parts else ""
