"""Comparisons of submissions: what a judge wrote criterion by criterion, else what the scores say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from judge_tui.judging.attempt_figures import STALE
from judge_tui.judging.matchup import TIE, Matchup
from judge_tui.judging.scoreboard import figure
from judge_tui.judging.summaries.gathered import Gathered, OfTask
from judge_tui.judging.summaries.noted import anchor_of
from judge_tui.judging.summaries.parts import Criteria, Line

__all__ = ["BY_SCORES", "by_scores", "compared", "deciding", "disagreements", "winner_of"]

#: Source of a comparison that nobody wrote.
BY_SCORES = "scores"


def compared(found: Gathered, of: OfTask, models: Sequence[str]) -> list[Criteria]:
    """The judges' comparisons of exactly these models; where nobody has one with criteria, also by scores.

    Those without criteria say who won and why, and stand behind those that have some.
    """
    made = [_criteria(found, of, judge, one, models) for judge, one in of.between(models)]
    made.sort(key=lambda each: not each.lines)
    if not any(each.lines for each in made) and (scored := by_scores(found, of, models)) is not None:
        made.insert(0, scored)
    return made


def _criteria(found: Gathered, of: OfTask, judge: str, one: Matchup, models: Sequence[str]) -> Criteria:
    titles = {model: found.models.get(model, model) for model in models}
    lines = tuple(
        Line(
            criterion.name,
            tuple(criterion.cells.get(model, "") for model in models),
            titles.get(criterion.edge or "", criterion.edge or ""),
            criterion.note,
            criterion.basis,
        )
        for criterion in one.criteria
    )
    winner = titles.get(one.winner or "", one.winner or "")
    return Criteria(
        tuple(titles.values()), lines, winner, one.margin, one.key_differentiator, judge, one.source,
        _anchors(of, models), found.decided_before(of.task, one),
    )  # fmt: skip


def _anchors(of: OfTask, models: Sequence[str]) -> tuple[str, ...]:
    """Where what was said of each submission stands; empty where nothing was."""
    return tuple(anchor_of(of.task, model) if model in of.judged else "" for model in models)


def by_scores(found: Gathered, of: OfTask, models: Sequence[str]) -> Criteria | None:
    """The dimensions as criteria, the higher mean being ahead; ``None`` where two were not scored."""
    judged = [of.judged[model] for model in models if model in of.judged]
    if len(judged) < len(models):
        return None
    lines = []
    for dimension in of.rubric.dimensions:
        given = [one.scores(dimension.id) for one in judged]
        means = [sum(scores) / len(scores) if scores else None for scores in given]
        if all(value is None for value in means):
            continue
        shown = tuple(
            figure(value, len(scores)) + (f" {STALE}" if one.stale and scores else "")
            for one, value, scores in zip(judged, means, given, strict=True)
        )
        ahead = _ahead([one.title for one in judged], means)
        lines.append(Line(dimension.title, shown, ahead, basis=BY_SCORES))
    totals = [one.points for one in judged]
    if not lines and all(total is None for total in totals):
        return None
    winner = _ahead([one.title for one in judged], totals)
    told = sorted((total for total in totals if total is not None), reverse=True)
    margin = round(told[0] - told[1]) if winner not in ("", TIE) and len(told) > 1 else None
    titles = tuple(one.title for one in judged)
    anchors = _anchors(of, models)
    stale = any(one.stale for one in judged)
    return Criteria(titles, tuple(lines), winner, margin, source=BY_SCORES, anchors=anchors, stale=stale)


def _ahead(titles: Sequence[str], values: Sequence[float | None]) -> str:
    """Who has the highest value; ``"tie"`` where several have, nothing where one has none."""
    if any(value is None for value in values):
        return ""
    best = max(value for value in values if value is not None)
    leaders = [title for title, value in zip(titles, values, strict=True) if value == best]
    return leaders[0] if len(leaders) == 1 else TIE


def winner_of(one: Criteria, by: str = "") -> str:
    """Who won, and by how much where that is said; marked where it was decided on other files.

    Args:
        one: The comparison.
        by: The margin in words.
    """
    return " ".join(filter(None, (one.winner, by, STALE if one.stale else "")))


def deciding(made: Sequence[Criteria]) -> list[Criteria]:
    """The comparisons that name a winner, the one that counts first: a judge's, that says by how much.

    That of the scores is none where a judge has said who won.
    """
    told = [each for each in made if each.winner]
    own = [each for each in told if each.judge] or told
    return sorted(own, key=lambda each: each.margin is None)


def disagreements(found: Gathered, told: Mapping[str, Sequence[Criteria]]) -> Iterator[str]:
    """Where several have said who won, and not the same: which of them counts here.

    Args:
        found: What was read.
        told: Task → the comparisons that name a winner, the one that counts first.
    """
    for task, each in told.items():
        others = [other for other in each[1:] if other.winner != each[0].winner and other.judge]
        if others:
            said = "; ".join(f"{_document(other)} has {_result(other)}" for other in others)
            title = found.tasks[task].rubric.title
            yield f"{title}: {_document(each[0])} has {_result(each[0])}, which is taken here; {said}."


def _document(one: Criteria) -> str:
    return f"“{one.source}”" if one.source else one.judge or "the scores"


def _result(one: Criteria) -> str:
    return f"{one.winner} +{one.margin}" if one.margin else one.winner
