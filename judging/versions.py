"""What two versions of a scorecard or a matchup say differently, a line each: for a judge who must choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Matchup
from judge_tui.judging.rubric import Rubric

__all__ = ["card_differences", "matchup_differences"]


def card_differences(ours: Scorecard, theirs: Scorecard, rubric: Rubric) -> Iterator[str]:
    """Lines on what differs between two versions of a card: ``Correctness: 85 here, 50 there``.

    Args:
        ours: The version that is called *here*.
        theirs: The version that is called *there*.
        rubric: What the card is scored by.
    """
    titles = {one.id: one.title for one in rubric.dimensions}
    for name in dict.fromkeys((*titles, *ours.dimensions, *theirs.dimensions)):
        title = titles.get(name, name)
        yield from _values(title, ours.score(name), theirs.score(name))
        yield from _texts(f"comment on {title}", ours.comment(name), theirs.comment(name))
    yield from _values("overall", ours.overall, theirs.overall)
    yield from _values("grade", ours.grade or None, theirs.grade or None)
    yield from _texts("reason for the overall score", ours.overall_reason, theirs.overall_reason)
    yield from _texts("summary", ours.summary, theirs.summary)
    notes = {note.id: note for note in ours.notes}
    others = {note.id: note for note in theirs.notes}
    for name in dict.fromkeys((*notes, *others)):
        note, other = notes.get(name), others.get(name)
        if note != other:
            where = next(one.where for one in (note, other) if one) or "the whole submission"
            side = "" if note and other else " only here" if note else " only there"
            yield f"note on {where}:{side or ' differs'}"


def matchup_differences(
    ours: Matchup, theirs: Matchup, who: Callable[[str | None], str] = lambda edge: edge or "–"
) -> Iterator[str]:
    """Lines on what differs between two versions of a matchup, as of :func:`card_differences`.

    Args:
        ours: The version that is called *here*.
        theirs: The version that is called *there*.
        who: Says who is ahead: a model, ``"tie"``, or nobody yet.
    """
    if ours.winner != theirs.winner:
        yield f"winner: {who(ours.winner)} here, {who(theirs.winner)} there"
    yield from _values("margin", ours.margin, theirs.margin)
    yield from _texts("key differentiator", ours.key_differentiator, theirs.key_differentiator)
    others = {one.name: one for one in theirs.criteria}
    for one in ours.criteria:
        if one not in theirs.criteria:
            other = others.get(one.name)
            if other is None:
                yield f"criterion {one.name}: only here"
            elif one.edge != other.edge:
                yield f"criterion {one.name}: {who(one.edge)} here, {who(other.edge)} there"
            else:
                yield f"criterion {one.name}: differs"
    known = {one.name for one in ours.criteria}
    yield from (f"criterion {one.name}: only there" for one in theirs.criteria if one.name not in known)


def _values(what: str, ours: object, theirs: object) -> Iterator[str]:
    if ours != theirs:
        here, there = ("–" if value is None else value for value in (ours, theirs))
        yield f"{what}: {here} here, {there} there"


def _texts(what: str, ours: str, theirs: str) -> Iterator[str]:
    if ours != theirs:
        yield f"{what}: {'only there' if not ours else 'only here' if not theirs else 'differs'}"
