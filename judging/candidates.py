"""Places that say what a note quotes, weighed by what stands around them: which of them is it for certain?

Copies are the danger: a block that stands twice has the same lines in the middle of it, and around them.
What tells such places apart is written down with a note; where it does not, no place is certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from judge_tui.judging.context import Context, full, loose, same, slots
from judge_tui.judging.quoted import MOST, TELLING, Anchor, Lines, Place, gaps, stands_at
from judge_tui.judging.text_index import TextIndex, said

__all__ = ["Candidate", "chosen_of", "parted", "rivalled"]

#: So many lines more than around another place may come to stand around that by chance.
_SLACK = 2


class Candidate:
    """A place that says what is quoted, and how much of what stood around a note stands around it.

    Args:
        place: The place, and whether its end may be another line.
        context: What stood around the note.
        index: The text.

    Attributes:
        lines: The place.
        open: Whether the end of the range may be another line.
        inside: Whether it is in the same definition; what that stands in may have come or gone.
        exactly: Whether it is in one of just the same name.
        sides: How many lines before and behind it are the same, from the nearest on.
    """

    def __init__(self, place: Place, context: Context, index: TextIndex) -> None:
        self._context, self._index = context, index
        self.lines: Lines = place[:2]
        self.open = place[2]
        first, last = self.lines
        # a range may begin with blank lines, which stand in nothing
        number = next((n for n in range(first, last + 1) if index.said[n]), first)
        self.inside = same(index.within[number], context.within)
        self.exactly = index.within[number] == context.within != ""
        before = slots(context.before, index.before(first, len(context.before) + 1), index)
        after = slots(context.after, index.behind(last, len(context.after) + 1), index)
        self.sides = before, after

    @property
    def slots(self) -> int:
        """How many lines around it are the same, from the nearest on."""
        return sum(self.sides)

    @property
    def weight(self) -> int:
        """How much speaks for it; that it stands in no definition is true of much."""
        return self.slots + 2 * (self.inside and self._context.within != "")

    @property
    def beside(self) -> bool:
        """Whether the lines on both sides of it are the same."""
        return min(self.sides) > 0

    @property
    def full(self) -> bool:
        """Whether all around it is the same."""
        return self.slots == full(self._context.before) + full(self._context.after)

    @property
    def firm(self) -> bool:
        """Whether of either side all is the same, or more than a neighbour may have in common with it."""
        kept = self._context.before, self._context.after
        return all(side > _SLACK or side == full(one) for side, one in zip(self.sides, kept, strict=True))

    @property
    def half(self) -> bool:
        """Whether half of what is around it is the same."""
        return 2 * self.slots >= full(self._context.before) + full(self._context.after)

    @property
    def backed(self) -> bool:
        """Whether anything around it is the same."""
        return self.slots > 0 or self._further > 1

    @cached_property
    def _further(self) -> int:
        context, index, (first, last) = self._context, self._index, self.lines
        return loose(context.before, index.before(first, 24), index) + loose(
            context.after, index.behind(last, 24), index
        )


def chosen_of(
    anchor: Anchor, context: Context, index: TextIndex, every: Sequence[Candidate]
) -> Candidate | None:
    """The one place that is certain.

    Args:
        anchor: What is known of the lines of a note.
        context: What stood around them.
        index: The text.
        every: The places that say the same now, in their order.
    """
    if anchor.blank:
        return _of_blank(context, every, index)
    if len(every) == 1 == context.equal[2]:
        return _of_one(anchor, context, every[0])
    return _of_several(context, every)


def _of_one(anchor: Anchor, context: Context, one: Candidate) -> Candidate | None:
    """The only place, where there was never another."""
    telling = one.inside and bool(context.within) and len("".join(anchor.told)) >= TELLING
    return one if one.backed or telling else None


def _of_blank(context: Context, every: Sequence[Candidate], index: TextIndex) -> Candidate | None:
    """Of blank lines that stand together only such are candidates as may be the ones."""
    within = [one for one in every if one.inside]
    if len(within) > 1:
        beside = [one for one in within if one.beside]
        return beside[0] if len(beside) == 1 and _rare(beside[0], index) else None
    if within:
        (one,) = within
        better = any(other.beside and other.slots > one.slots + 1 for other in every if other is not one)
        return one if one.backed and not better else None
    return every[0] if len(every) == 1 and every[0].backed else None


def _rare(one: Candidate, index: TextIndex) -> bool:
    """Whether what stands beside a place stands nowhere else."""
    beside = [*index.before(one.lines[0], 1), *index.behind(one.lines[1], 1)]
    return all(len(index.at(index.said[number])) == 1 for number in beside)


def _of_several(context: Context, every: Sequence[Candidate]) -> Candidate | None:
    """The one of some places, or of what is left of them, that no other is like."""
    _, inside, known = context.equal
    twins, others = context.twins or (0, 0)
    if twins > 1 or 2 * others >= full(context.before) + full(context.after):
        # copies: little but their order tells them apart, and what has been moved has another one
        return None
    within = [one for one in every if one.inside]
    if len(within) == 1 == inside and len(every) == known and within[0].exactly and within[0].backed:
        # its definition has no other, and had none
        more = any(one.beside and one.slots > within[0].slots for one in every)
        return None if more else within[0]
    best = max(every, key=lambda one: (one.slots, one.inside), default=None)
    if best is None or not best.beside or any(one.inside > best.inside for one in every):
        return None
    next_best = max((one.slots for one in every if one is not best), default=0)
    if not twins or len(every) > known:
        # of nearly the same around another one that was there as much must be there still
        kept = next_best >= others or others <= _SLACK
        return best if kept and 2 * next_best < best.slots else None
    if len(every) < known and not (others <= _SLACK and best.firm):
        # it may be the one that is gone, and this one stand in its place
        return None
    # where around another one stands more than did around any, it may be this one that has moved
    clear = next_best <= others < best.slots - _SLACK
    return best if clear and (best.firm or best.half) else None


def rivalled(one: Candidate, anchor: Anchor, context: Context, index: TextIndex) -> bool:
    """Whether what stood around a note stands around another place too, where the note's lines are others."""
    if anchor.blank:
        return parted(one, anchor, context, index) or len(list(gaps(anchor, index))) != context.equal[2]
    if not context.before or not one.sides[0]:
        return False
    own = index.before(one.lines[0], 1)
    kept = min(one.slots, 2)
    for above in index.at(said(context.before[0]))[:MOST]:
        behind = index.behind(above, 1)
        if [above] == own or not behind or not same(index.within[behind[0]], context.within):
            continue
        if slots(context.before, index.before(behind[0], 24), index) < kept:
            continue
        if stands_at(index, anchor, behind[0]):
            # weighed with the others that say the same
            continue
        begins = bool(anchor.size) and index.said[behind[0]] == anchor.told[0]
        following = [index.said[n] for n in index.behind(behind[0], 2 + anchor.size)]
        if begins or (context.after and said(context.after[0]) in following):
            return True
    return False


def parted(one: Candidate, anchor: Anchor, context: Context, index: TextIndex) -> bool:
    """Whether a place is of blank lines, and what stood on one side of them stands beside others too."""
    if not anchor.blank:
        return False
    first, last = one.lines
    own = index.before(first, 1), index.behind(last, 1)
    # lines that all stand twice tell no more than some of them
    before = min(slots(context.before, index.before(first, 24), index), len(context.before) - 1)
    after = min(slots(context.after, index.behind(last, 24), index), len(context.after) - 1)
    above = [n + 1 for n in index.at(said(context.before[0]))[:MOST] if [n] != own[0]]
    below = [n - 1 for n in index.at(said(context.after[0]))[:MOST] if [n] != own[1]]
    return any(
        n < len(index) and not index.said[n] and slots(context.before, index.before(n, 24), index) > before
        for n in above
    ) or any(
        n >= 0 and not index.said[n] and slots(context.after, index.behind(n, 24), index) > after
        for n in below
    )
