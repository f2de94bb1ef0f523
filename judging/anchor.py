"""Where the lines of a note are in a text that has changed since: for certain, in doubt, or nowhere.

A place is certain where what is quoted stands once in what the context says, and nothing speaks against it.
Everything else is marked: a note on a wrong line is worse than one whose judge is asked.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Literal

from judge_tui.judging.context import CHARACTERS, UNKNOWN, Context, edge, near
from judge_tui.judging.text_index import TextIndex, said
from judge_tui.judging.way_of_lines import Earlier

__all__ = ["LONG", "Anchor", "Found", "Lines", "Standing", "equal_places", "find", "stands_at"]

Standing = Literal["there", "changed", "doubt", "gone"]
#: First and last line, 0-based.
Lines = tuple[int, int]

#: The same, and whether the last may be another line.
_Place = tuple[int, int, bool]

#: A longer line is quoted by its beginning.
LONG = 1_000
#: What says less than so many characters is no proof by itself.
_TELLING = 10
#: The end of a range is looked for so many lines behind where it was.
_STRETCH = 400
#: So many lines that say the same are looked at, and so many places are asked about.
_MOST, _ASKED = 2_000, 30


@dataclass(frozen=True, slots=True)
class Anchor:
    """What is known of the lines of a note.

    Attributes:
        lines: Where they were.
        quote: What the first of them said.
        context: What stood around them; ``None`` where that is not known.
    """

    lines: Lines
    quote: tuple[str, ...]
    context: Context | None = None

    @property
    def size(self) -> int:
        """Lines behind the first."""
        return self.lines[1] - self.lines[0]

    @property
    def whole(self) -> bool:
        """Whether every line is quoted."""
        return self.size < len(self.quote)

    @property
    def told(self) -> tuple[str, ...]:
        """What the quoted lines say."""
        return _told(self.quote)


@lru_cache(maxsize=1024)
def _told(quote: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(said, quote))


@dataclass(frozen=True, slots=True)
class Found:
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


class _Candidate:
    """A place that says what is quoted, and how much of what stood around a note stands around it.

    Args:
        place: The place, and whether its end may be another line.
        context: What stood around the note.
        index: The text.

    Attributes:
        lines: The place.
        open: Whether the end of the range may be another line.
        inside: Whether it is in the same definition.
        before: Whether the line before it is the same.
        after: Whether the line behind it is.
        slots: How many lines around it are, from the nearest on.
    """

    def __init__(self, place: _Place, context: Context, index: TextIndex) -> None:
        self._context, self._index = context, index
        self.lines: Lines = place[:2]
        self.open = place[2]
        first, last = self.lines
        # a range may begin with blank lines, which stand in nothing
        number = next((n for n in range(first, last + 1) if index.said[n]), first)
        self.inside = _same(index.within[number], context.within)
        before = _slots(context.before, index.before(first, len(context.before) + 1), index)
        after = _slots(context.after, index.behind(last, len(context.after) + 1), index)
        self.before, self.after, self.slots = before > 0, after > 0, before + after

    @property
    def beside(self) -> bool:
        """Whether the lines on both sides of it are the same."""
        return self.before and self.after

    @property
    def backed(self) -> bool:
        """Whether anything around it is the same."""
        return self.before or self.after or self._loose > 1

    @cached_property
    def _loose(self) -> int:
        context, index, (first, last) = self._context, self._index, self.lines
        return _loose(context.before, index.before(first, 24), index) + _loose(
            context.after, index.behind(last, 24), index
        )


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
    every = [_Candidate(place, context, index) for place in _places(anchor, index)]
    if earlier is not None and earlier.akin and stands_at(earlier.index, anchor, anchor.lines[0]):
        return _followed(anchor, index, earlier, every)
    chosen = _chosen(anchor, context, index, every)
    return (
        _there(chosen)
        if chosen and not _rivalled(chosen, anchor, context, index)
        else _doubtful(anchor, context, index, every)
    )


def _there(chosen: _Candidate) -> Found:
    if chosen.open:
        return Found("changed", chosen.lines, (chosen.lines,))
    return Found("there", chosen.lines, weight=chosen.slots + 2 * chosen.inside)


def _without_context(anchor: Anchor, index: TextIndex, *, stands: bool) -> Found:
    """Notes of old cards: one place that says enough is it; several are asked about."""
    places = [(first, last) for first, last, _ in _places(anchor, index) if anchor.told]
    telling = len("".join(anchor.told)) >= _TELLING
    if len(places) == 1 and (telling or stands):
        return Found("there", places[0])
    if not "".join(anchor.told):
        return Found("there" if stands else "gone", _clamped(anchor.lines, index))
    if places:
        nearest = sorted(places, key=lambda lines: (abs(lines[0] - anchor.lines[0]), lines))
        return Found("doubt", nearest[0], tuple(sorted(nearest[:_ASKED])))
    return Found("gone", _clamped(anchor.lines, index))


# what the earlier text tells


def _followed(anchor: Anchor, index: TextIndex, earlier: Earlier, every: Sequence[_Candidate]) -> Found:
    context = anchor.context
    assert context is not None
    first, last = anchor.lines
    begins, ends = earlier.to(first), earlier.to(last)
    if begins is not None:
        here = next((one for one in every if one.lines[0] == begins), None)
        if here is not None and (here.backed or here.inside):
            if anchor.whole:
                return _there(here)
            if ends is not None and ends >= begins:
                return Found("there", (begins, ends), weight=here.slots + 2 * here.inside)
            return Found("changed", here.lines, (here.lines,))
        if ends is not None and ends >= begins:
            return Found("changed", (begins, ends), ((begins, ends),))
    # what was another line before is none that has moved
    free = [one for one in every if not any(earlier.since(n) is not None for n in _solid(one.lines, index))]
    if len(free) == 1 and free[0].backed and begins is None and (free[0].inside or free[0].beside):
        return _there(free[0])
    between = _between(anchor.lines, earlier, index)
    if between is not None:
        return Found("changed", between, tuple(dict.fromkeys((between, *_listed(free)))))
    if free:
        return _doubtful(anchor, context, index, free)
    return Found("gone", _clamped(_near(first, earlier, anchor.size), index))


def _solid(lines: Lines, index: TextIndex) -> list[int]:
    return [n for n in range(lines[0], lines[1] + 1) if index.said[n]]


def _between(lines: Lines, earlier: Earlier, index: TextIndex) -> Lines | None:
    """The lines that stand now between what stood before some lines and behind them."""
    told = earlier.index.said
    above = next((n for n in range(lines[0] - 1, -1, -1) if told[n]), None)
    below = next((n for n in range(lines[1] + 1, len(told)) if told[n]), None)
    begin = -1 if above is None else earlier.to(above)
    end = len(index) if below is None else earlier.to(below)
    if begin is None or end is None:
        return None
    there = [n for n in range(begin + 1, end) if index.said[n] and earlier.since(n) is None]
    return (there[0], there[-1]) if there else None


def _near(line: int, earlier: Earlier, size: int) -> Lines:
    while line > 0 and earlier.to(line) is None:
        line -= 1
    at = earlier.to(line) or 0
    return at, at + size


# what the context tells


def _chosen(
    anchor: Anchor, context: Context, index: TextIndex, every: Sequence[_Candidate]
) -> _Candidate | None:
    """The one place that is certain."""
    nth, inside, all_over = context.equal
    within = [one for one in every if one.inside]
    telling = len("".join(anchor.told)) >= _TELLING
    if within and len(within) == inside:
        one = within[nth - 1]
        if inside == 1:
            backed = one.backed or (bool(context.within) and telling and len(every) == all_over)
            return one if backed and _best(one, every) else None
        return one if one.backed and one.slots == max(other.slots for other in within) else None
    if len(within) > inside:
        beside = [one for one in within if one.beside]
        return beside[0] if len(beside) == 1 and _rare(beside[0], index) else None
    if within or len(every) != all_over:
        return None
    # its definition has another name now, or it stands in another one
    ranked = sorted(every, key=lambda one: -one.slots)
    if all_over == 1:
        return ranked[0] if ranked[0].backed else None
    clear = len(ranked) > 1 and ranked[0].slots > ranked[1].slots + 1 and ranked[0].beside
    return ranked[0] if clear else None


def _rivalled(one: _Candidate, anchor: Anchor, context: Context, index: TextIndex) -> bool:
    """Whether what stood around a note stands around another place too, where the note's lines are others."""
    if not context.before or not one.before:
        return False
    own = index.before(one.lines[0], 1)
    kept = min(one.slots, 2)
    for above in index.at(said(context.before[0]))[:_MOST]:
        behind = index.behind(above, 1)
        if [above] == own or not behind or not _same(index.within[behind[0]], context.within):
            continue
        if _slots(context.before, index.before(behind[0], 24), index) < kept:
            continue
        begins = bool(anchor.size) and index.said[behind[0]] == anchor.told[0]
        following = [index.said[n] for n in index.behind(behind[0], 2 + anchor.size)]
        if begins or (context.after and said(context.after[0]) in following):
            return True
    return False


def _best(one: _Candidate, every: Sequence[_Candidate]) -> bool:
    """Whether no place elsewhere has all around it that this one lacks."""
    return not any(other.beside and other.slots > one.slots + 1 for other in every if other is not one)


def _rare(one: _Candidate, index: TextIndex) -> bool:
    """Whether what stands beside a place stands nowhere else."""
    beside = [*index.before(one.lines[0], 1), *index.behind(one.lines[1], 1)]
    return all(len(index.at(index.said[number])) == 1 for number in beside)


def _doubtful(anchor: Anchor, context: Context, index: TextIndex, every: Sequence[_Candidate]) -> Found:
    def rank(one: _Candidate) -> tuple[int, int]:
        return -(one.slots + 2 * one.inside), abs(one.lines[0] - anchor.lines[0])

    likely = [one for one in every if one.inside or one.backed] or list(every)
    if likely:
        best = min(likely, key=rank)
        asked = sorted(likely, key=rank)[:_ASKED]
        return Found("doubt", best.lines, _listed(asked), best.slots)
    gap = _stretched(anchor, context, index) or _gap(context, index)
    if gap is not None:
        return Found("changed", gap, (gap,))
    return Found("gone", _clamped(anchor.lines, index))


def _gap(context: Context, index: TextIndex) -> Lines | None:
    """What stands between the lines that stood before a place and behind it, where that is one place."""
    if not context.before or not context.after:
        return None
    found = []
    for above in index.at(said(context.before[0]))[:_MOST]:
        behind = index.behind(above, 12)
        told = said(context.after[0])
        below = next((at for at, number in enumerate(behind) if index.said[number] == told), None)
        if below and _same(index.within[behind[0]], context.within):
            found.append((behind[0], behind[below - 1]))
    return found[0] if len(found) == 1 else None


def _listed(candidates: Sequence[_Candidate]) -> tuple[Lines, ...]:
    return tuple(sorted(one.lines for one in candidates))


# places that say the same


def stands_at(index: TextIndex, anchor: Anchor, first: int) -> bool:
    """Whether the quoted lines stand from a line on."""
    if not 0 <= first <= len(index) - len(anchor.quote):
        return False
    return all(
        _says(index, first + number, quoted, told)
        for number, (quoted, told) in enumerate(zip(anchor.quote, anchor.told, strict=True))
    )


def _says(index: TextIndex, number: int, quoted: str, told: str) -> bool:
    if len(quoted) < LONG:
        return index.said[number] == told
    return index.lines[number].lstrip().startswith(quoted.strip())


def equal_places(anchor: Anchor, index: TextIndex) -> Iterator[int]:
    """First lines of the places that say what is quoted, in their order."""
    whole = [(n, told) for n, (q, told) in enumerate(zip(anchor.quote, anchor.told, strict=True)) if told]
    short = [(n, told) for n, told in whole if len(anchor.quote[n]) < LONG]
    if not whole:
        return
    if short:
        offset, rarest = min(short, key=lambda pair: len(index.at(pair[1])))
        starts: Sequence[int] = [at - offset for at in index.at(rarest)]
    else:
        starts = index.solid
    if len(starts) > _MOST and anchor.lines[0] >= 0:
        near_by = sorted(starts, key=lambda at: abs(at - anchor.lines[0]))[:_MOST]
        starts = sorted(near_by)
    yield from (first for first in starts if stands_at(index, anchor, first))


def _places(anchor: Anchor, index: TextIndex) -> list[_Place]:
    """The places that say what is quoted, to their ends, and whether these may be others."""
    firsts = list(equal_places(anchor, index))
    if firsts:
        return [(first, *_end(anchor, index, first)) for first in firsts]
    if not "".join(anchor.told):
        return [(*lines, False) for lines in _blank_places(anchor, index)]
    return [(*lines, False) for lines in _wrapped(anchor, index)]


def _end(anchor: Anchor, index: TextIndex, first: int) -> tuple[int, bool]:
    """The last line of a range that begins at a line, and whether it may be another one."""
    context, expected = anchor.context, first + anchor.size
    clamped = min(expected, len(index) - 1)
    if anchor.whole or context is None or not context.ends:
        return clamped, clamped < expected
    least = first + len(anchor.quote) - 1
    ends = [n for n in _saying(context.ends, index) if least <= n <= expected + _STRETCH]
    # a range may have grown or shrunk: what stands behind it tells where
    slots = [(_slots(context.after, index.behind(n, 24), index), n) for n in ends[:_ASKED]]
    most = max((count for count, _ in slots), default=0)
    best = [n for count, n in slots if count == most]
    nearest = min(best, key=lambda n: abs(n - expected), default=clamped)
    return nearest, len(best) != 1 or not most


def _saying(kept: str, index: TextIndex) -> Sequence[int]:
    """Lines that say what a kept one does."""
    told = said(kept)
    if len(kept) < CHARACTERS:
        return index.at(told)
    return [number for number in index.solid if index.said[number].startswith(told)]


def _stretched(anchor: Anchor, context: Context, index: TextIndex) -> Lines | None:
    """A range that begins and ends as it did, and is another one inside."""
    if not anchor.size or not anchor.told[0]:
        return None
    ends = _saying(context.ends or anchor.quote[-1], index)
    found: list[tuple[int, int, Lines]] = []
    for first in index.at(anchor.told[0])[:_MOST]:
        above = index.before(first, 24)
        weight = 2 * _same(index.within[first], context.within) + _slots(context.before, above, index)
        at = bisect_left(ends, first)
        for last in ends[at : at + _ASKED] if weight else ():
            backed = _slots(context.after, index.behind(last, 24), index)
            if last <= first + 2 * anchor.size + 20 and backed:
                found.append((weight + backed, -abs(last - first - anchor.size), (first, last)))
    return max(found)[2] if found else None


def _wrapped(anchor: Anchor, index: TextIndex) -> list[Lines]:
    """Places that say it on more lines, or on fewer: somebody has formatted the file."""
    told = "".join(anchor.told)
    if len(told) < _TELLING or not anchor.whole or any(len(line) >= LONG for line in anchor.quote):
        return []
    text, starts = index.joined
    found: list[Lines] = []
    at = text.find(told)
    while at >= 0 and len(found) < _ASKED:
        first, last = starts.get(at), starts.get(at + len(told))
        if first is not None and last is not None:
            found.append((index.solid[first], index.solid[last - 1]))
        at = text.find(told, at + 1)
    return found


def _blank_places(anchor: Anchor, index: TextIndex) -> list[Lines]:
    """Places of blank lines: between what stood around them."""
    context = anchor.context
    if context is None or not context.before or not context.after:
        return []
    found: list[Lines] = []
    for above in index.at(said(context.before[0]))[:_MOST]:
        behind = index.behind(above, 1)
        if behind and near(index, behind[0], context.after[0]) and behind[0] - above > anchor.size + 1:
            found.append((above + 1, above + 1 + anchor.size))
    return found


def _slots(kept: Sequence[str], there: Sequence[int], index: TextIndex) -> int:
    """How many kept lines, from the nearest on, stand in just their places; an edge of the file counts."""
    count = sum(1 for _ in takewhile(bool, (near(index, n, k) for n, k in zip(there, kept, strict=False))))
    return count + (edge(kept) and count == len(kept) and len(there) == len(kept))


def _loose(kept: Sequence[str], there: Sequence[int], index: TextIndex) -> int:
    """How many of the kept lines stand there in their order."""
    at = count = 0
    for line in kept:
        found = next((n for n in range(at, len(there)) if near(index, there[n], line)), None)
        if found is not None:
            at, count = found + 1, count + 1
    return count


def _same(within: str, wanted: str) -> bool:
    """Whether two definitions are one; what it stands in may have come or gone."""
    if within == wanted:
        return True
    return bool(within and wanted) and (within.endswith("." + wanted) or wanted.endswith("." + within))


def _clamped(lines: Lines, index: TextIndex) -> Lines:
    last = max(len(index) - 1, 0)
    return min(lines[0], last), min(lines[1], last)
