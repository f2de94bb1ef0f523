"""What two versions of a scorecard or a matchup say differently: for a judge who must choose."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from judge_tui.judging.card import Scorecard
from judge_tui.judging.matchup import Criterion, Matchup
from judge_tui.judging.note import Note
from judge_tui.judging.rubric import Rubric

__all__ = ["Differing", "card_differences", "matchup_differences"]


class Differing(Struct, frozen=True):
    """Something that two versions say differently.

    Attributes:
        what: What it is.
        here: What one version says; empty where it says nothing.
        there: What the other one says.
        prose: Whether these are texts of any length, and not values.
    """

    what: str
    here: str
    there: str
    prose: bool = False

    def __str__(self) -> str:
        """In a line: ``Correctness: 85 here, 50 there``; of texts, that they differ or which one is there."""
        return self.between("here", "there")

    def between(self, here: str, there: str) -> str:
        """In a line, the two versions called by other words."""
        if not self.prose:
            return f"{self.what}: {self.here or '–'} {here}, {self.there or '–'} {there}"
        told = "differs" if self.here and self.there else f"only {here if self.here else there}"
        return f"{self.what}: {told}"


def card_differences(ours: Scorecard, theirs: Scorecard, rubric: Rubric) -> Iterator[Differing]:
    """What differs between two versions of a card, in the order of the rubric.

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
    yield from _values("as a whole", _verdict(ours), _verdict(theirs))
    yield from _texts("reason for the overall score", ours.overall_reason, theirs.overall_reason)
    yield from _texts("summary", ours.summary, theirs.summary)
    notes = {note.id: note for note in ours.notes}
    others = {note.id: note for note in theirs.notes}
    for name in dict.fromkeys((*notes, *others)):
        note, other = notes.get(name), others.get(name)
        # where its lines are is found out by whoever looks, and no word of a judge
        if note is None or other is None or note.unanchored != other.unanchored:
            where = next(one.where for one in (note, other) if one) or "the whole submission"
            yield Differing(f"note on {where}", _note(note), _note(other), prose=True)


def matchup_differences(
    ours: Matchup, theirs: Matchup, who: Callable[[str | None], str] = lambda edge: edge or "–"
) -> Iterator[Differing]:
    """What differs between two versions of a matchup.

    Args:
        ours: The version that is called *here*.
        theirs: The version that is called *there*.
        who: Says who is ahead: a model, ``"tie"``, or nobody yet.
    """
    if ours.winner != theirs.winner:
        yield Differing("winner", who(ours.winner), who(theirs.winner))
    yield from _values("margin", ours.margin, theirs.margin)
    yield from _texts("key differentiator", ours.key_differentiator, theirs.key_differentiator)
    others = {one.name: one for one in theirs.criteria}
    for one in ours.criteria:
        if one not in theirs.criteria:
            what, other = f"criterion {one.name}", others.get(one.name)
            if other is not None and one.edge != other.edge:
                yield Differing(what, who(one.edge), who(other.edge))
            else:
                yield Differing(what, _criterion(one), _criterion(other), prose=True)
    known = {one.name for one in ours.criteria}
    for one in theirs.criteria:
        if one.name not in known:
            yield Differing(f"criterion {one.name}", "", _criterion(one), prose=True)


def _values(what: str, ours: object, theirs: object) -> Iterator[Differing]:
    if ours != theirs:
        here, there = ("" if value is None else str(value) for value in (ours, theirs))
        yield Differing(what, here, there)


def _texts(what: str, ours: str, theirs: str) -> Iterator[Differing]:
    if ours != theirs:
        yield Differing(what, ours, theirs, prose=True)


def _note(note: Note | None) -> str:
    return "" if note is None else f"{note.weight} {note.kind}: {note.text}".lstrip()


def _verdict(card: Scorecard) -> str | None:
    """What a card calls its submission, and by which note."""
    if card.verdict is None:
        return None
    return f"{card.verdict.kind} ({card.verdict.note})" if card.verdict.note else card.verdict.kind


def _criterion(criterion: Criterion | None) -> str:
    """What a criterion says, but for its name."""
    if criterion is None:
        return ""
    said = [part for part in (*criterion.cells.values(), criterion.note) if part]
    return " · ".join(said) or "nothing more"
