"""Where the lines of a note are in a text that has changed since: for certain, in doubt, or nowhere.

A place is certain where what is quoted stands once in what the context says, and nothing speaks against it.
Everything else is marked: a note on a wrong line is worse than one whose judge is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from judge_tui.judging.candidates import Candidate, chosen_of, parted, rivalled
from judge_tui.judging.context import UNKNOWN, Context, same
from judge_tui.judging.quoted import (
    ASKED,
    MOST,
    TELLING,
    Anchor,
    Lines,
    among_blank,
    places,
    stands_at,
    stretched,
)
from judge_tui.judging.text_index import TextIndex, said
from judge_tui.judging.way_of_lines import Earlier

__all__ = ["Found", "Standing", "find"]

Standing = Literal["there", "changed", "doubt", "gone"]


class Found(Struct, frozen=True):
    """Where the lines of a note are.

    Attributes:
        standing: ``there``; ``changed``, their place being known and others standing in it; ``doubt``,
            several places or a poor one; ``gone``.
        lines: The place, or the likeliest one.
        places: Those that are asked about.
        weight: How much of the context speaks for the place.
    """

    standing: Standing
    lines: Lines
    places: tuple[Lines, ...] = ()
    weight: int = 0


def find(anchor: Anchor, index: TextIndex, earlier: Earlier | None = None, *, sure: bool = False) -> Found:
    """Where the lines of a note are in a text.

    Args:
        anchor: What is known of them.
        index: The text.
        earlier: The text that they were certain in, where it is at hand.
        sure: Whether the text is known to be the one that they were written on.
    """
    context = anchor.context
    stands = stands_at(index, anchor, anchor.lines[0])
    if stands and (sure or (context is not None and context.text == index.fingerprint)):
        return Found("there", anchor.lines, weight=99)
    if context is None or context.text == UNKNOWN:
        return _without_context(anchor, index, stands=stands)
    every = [Candidate(place, context, index) for place in places(anchor, index)]
    if earlier is not None and earlier.akin and stands_at(earlier.index, anchor, anchor.lines[0]):
        return _followed(anchor, index, earlier, every)
    chosen = chosen_of(anchor, context, index, every)
    return (
        _there(chosen)
        if chosen and not rivalled(chosen, anchor, context, index)
        else _doubtful(anchor, context, index, every)
    )


def _there(chosen: Candidate) -> Found:
    if chosen.open:
        return Found("changed", chosen.lines, (chosen.lines,))
    return Found("there", chosen.lines, weight=chosen.weight)


def _without_context(anchor: Anchor, index: TextIndex, *, stands: bool) -> Found:
    """Notes of old cards: one place that says enough is it; several are asked about."""
    there = [(first, last) for first, last, _ in places(anchor, index) if anchor.told]
    telling = len("".join(anchor.told)) >= TELLING
    if len(there) == 1 and (telling or stands):
        return Found("there", there[0])
    if anchor.blank:
        return Found("there" if stands else "gone", _clamped(anchor.lines, index))
    if there:
        nearest = sorted(there, key=lambda lines: (abs(lines[0] - anchor.lines[0]), lines))
        return Found("doubt", nearest[0], tuple(sorted(nearest[:ASKED])))
    return Found("gone", _clamped(anchor.lines, index))


# what the earlier text tells


def _followed(anchor: Anchor, index: TextIndex, earlier: Earlier, every: Sequence[Candidate]) -> Found:
    context = anchor.context
    assert context is not None
    first, last = anchor.lines
    begins, ends = earlier.to(first), earlier.to(last)
    if begins is not None:
        if anchor.blank and (asked := _any_of_more(anchor, index, earlier, begins)):
            return Found("doubt", (begins, begins + anchor.size), asked)
        here = next((one for one in every if one.lines[0] == begins), None)
        if here is not None and parted(here, anchor, context, index):
            return _doubtful(anchor, context, index, every)
        if here is not None and (here.backed or here.inside):
            if anchor.whole:
                return _there(here)
            if ends is not None and ends >= begins:
                return Found("there", (begins, ends), weight=here.weight)
            return Found("changed", here.lines, (here.lines,))
        if ends is not None and ends >= begins:
            if ends - begins == anchor.size and _are_blank((begins, ends), anchor, index, every):
                return Found("there", (begins, ends))
            return Found("changed", (begins, ends), ((begins, ends),))
    # what was another line before is none that has moved
    free = [one for one in every if not any(earlier.since(n) is not None for n in _solid(one.lines, index))]
    if len(free) == 1 and begins is None and _is_meant(free[0], context, every):
        if anchor.blank and rivalled(free[0], anchor, context, index):
            return _doubtful(anchor, context, index, free)
        return _there(free[0])
    between = _between(anchor.lines, earlier, index)
    if between is not None:
        return Found("changed", between, tuple(dict.fromkeys((between, *_listed(free)))))
    if free:
        return _doubtful(anchor, context, index, free)
    return Found("gone", _clamped(_near(first, earlier, anchor.size), index))


def _is_meant(one: Candidate, context: Context, every: Sequence[Candidate]) -> bool:
    """Whether lines have moved to a place: no more is the same around any of its like."""
    where = (one.inside and context.within != "") or one.beside
    return where and one.backed and all(other.slots <= one.slots for other in every)


def _any_of_more(anchor: Anchor, index: TextIndex, earlier: Earlier, begins: int) -> tuple[Lines, ...]:
    """Where blank lines have come or gone beside those of a note: all that may be the ones."""
    first, size = anchor.lines[0], anchor.size
    nth, room = among_blank((begins, begins), index)
    if room - size < 2 or room == among_blank((first, first), earlier.index)[1]:
        return ()
    start = begins - nth + 1
    return tuple((n, n + size) for n in range(start, start + min(room - size, ASKED)))


def _solid(lines: Lines, index: TextIndex) -> list[int]:
    return [n for n in range(lines[0], lines[1] + 1) if index.said[n]]


def _are_blank(lines: Lines, anchor: Anchor, index: TextIndex, every: Sequence[Candidate]) -> bool:
    """Whether blank lines stand between the same ones as ever: which of several they are is all the same."""
    if not anchor.blank or _solid(lines, index):
        return False
    return any(index.before(one.lines[0], 1) == index.before(lines[0], 1) for one in every)


def _between(lines: Lines, earlier: Earlier, index: TextIndex) -> Lines | None:
    """The lines that stand now between what stood before some lines and behind them.

    Where lines beside them are others too, they are told by their number, if there are as many as before.
    """
    told = earlier.index.said
    above = next((n for n in range(lines[0] - 1, -1, -1) if told[n] and earlier.to(n) is not None), -1)
    below = next((n for n in range(lines[1] + 1, len(told)) if told[n] and earlier.to(n) is not None), None)
    begin = -1 if above < 0 else earlier.to(above)
    end = len(index) if below is None else earlier.to(below)
    if begin is None or end is None:
        return None
    there = [n for n in range(begin + 1, end) if index.said[n] and earlier.since(n) is None]
    before = [n for n in range(above + 1, len(told) if below is None else below) if told[n]]
    own = [at for at, n in enumerate(before) if lines[0] <= n <= lines[1]]
    if len(own) == len(before):
        return (there[0], there[-1]) if there else None
    return (there[own[0]], there[own[-1]]) if own and len(there) == len(before) else None


def _near(line: int, earlier: Earlier, size: int) -> Lines:
    while line > 0 and earlier.to(line) is None:
        line -= 1
    at = earlier.to(line) or 0
    return at, at + size


def _doubtful(anchor: Anchor, context: Context, index: TextIndex, every: Sequence[Candidate]) -> Found:
    def rank(one: Candidate) -> tuple[int, int]:
        return -(one.slots + 2 * one.inside), abs(one.lines[0] - anchor.lines[0])

    likely = [one for one in every if one.inside or one.backed] or list(every)
    if likely:
        best = min(likely, key=rank)
        asked = sorted(likely, key=rank)[:ASKED]
        return Found("doubt", best.lines, _listed(asked), best.slots)
    gap = stretched(anchor, context, index) or _gap(context, index)
    if gap is not None:
        return Found("changed", gap, (gap,))
    return Found("gone", _clamped(anchor.lines, index))


def _gap(context: Context, index: TextIndex) -> Lines | None:
    """What stands between the lines that stood before a place and behind it, where that is one place."""
    if not context.before or not context.after:
        return None
    found = []
    for above in index.at(said(context.before[0]))[:MOST]:
        behind = index.behind(above, 12)
        told = said(context.after[0])
        below = next((at for at, number in enumerate(behind) if index.said[number] == told), None)
        if below and same(index.within[behind[0]], context.within):
            found.append((behind[0], behind[below - 1]))
    return found[0] if len(found) == 1 else None


def _listed(candidates: Sequence[Candidate]) -> tuple[Lines, ...]:
    return tuple(sorted(one.lines for one in candidates))


def _clamped(lines: Lines, index: TextIndex) -> Lines:
    last = max(len(index) - 1, 0)
    return min(lines[0], last), min(lines[1], last)
