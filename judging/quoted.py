"""What a note quotes, and the places of a text that say the same."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from judge_tui.judging.context import Context, near, same, saying, slots
from judge_tui.judging.text_index import TextIndex, said

__all__ = [
    "ASKED", "LONG", "MOST", "TELLING", "Anchor", "Lines", "Place", "among_blank", "equal_places", "gaps",
    "places", "stands_at", "stretched",
]  # fmt: skip

#: First and last line, 0-based.
Lines = tuple[int, int]
#: The same, and whether the last may be another line.
Place = tuple[int, int, bool]

#: A longer line is quoted by its beginning.
LONG = 1_000
#: What says less than so many characters is no proof by itself.
TELLING = 10
#: So many lines that say the same are looked at, and so many places are asked about.
MOST, ASKED = 2_000, 30
#: The end of a range is looked for so many lines behind where it was.
_STRETCH = 400


class Anchor(Struct, frozen=True):
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
    def blank(self) -> bool:
        """Whether it is of blank lines: nothing tells one from those beside it but their order."""
        return not any(self.told)

    @property
    def told(self) -> tuple[str, ...]:
        """What the quoted lines say."""
        return _told(self.quote)


@lru_cache(maxsize=1024)
def _told(quote: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(said, quote))


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
    if len(starts) > MOST and anchor.lines[0] >= 0:
        near_by = sorted(starts, key=lambda at: abs(at - anchor.lines[0]))[:MOST]
        starts = sorted(near_by)
    yield from (first for first in starts if stands_at(index, anchor, first))


def places(anchor: Anchor, index: TextIndex) -> list[Place]:
    """The places that say what is quoted, to their ends, and whether these may be others."""
    firsts = list(equal_places(anchor, index))
    if firsts:
        return [(first, *_end(anchor, index, first)) for first in firsts]
    if anchor.blank:
        return [(*lines, False) for lines in _blank_places(anchor, index)]
    return [(*lines, False) for lines in _wrapped(anchor, index)]


def _end(anchor: Anchor, index: TextIndex, first: int) -> tuple[int, bool]:
    """The last line of a range that begins at a line, and whether it may be another one."""
    context, expected = anchor.context, first + anchor.size
    clamped = min(expected, len(index) - 1)
    if anchor.whole or context is None or not context.ends:
        return clamped, clamped < expected
    least = first + len(anchor.quote) - 1
    ends = [n for n in saying(context.ends, index) if least <= n <= expected + _STRETCH]
    # a range may have grown or shrunk: what stands behind it tells where
    backing = [(slots(context.after, index.behind(n, 24), index), n) for n in ends[:ASKED]]
    most = max((count for count, _ in backing), default=0)
    best = [n for count, n in backing if count == most]
    nearest = min(best, key=lambda n: abs(n - expected), default=clamped)
    # that a file ends behind it makes no other end impossible behind which the same lines stand
    rivals = [n for count, n in backing if count >= min(most, len(context.after))]
    # nor is it the end for certain that stands elsewhere than it did, where others say the same: copies do
    moved = nearest != expected and (
        not context.endings == 1 == len(saying(context.ends, index))
        or any(first < n <= nearest for n in equal_places(anchor, index) if nearest > expected)
    )
    return nearest, len(rivals) != 1 or not most or moved


def stretched(anchor: Anchor, context: Context, index: TextIndex) -> Lines | None:
    """A range that begins and ends as it did, and is another one inside."""
    if not anchor.size or not anchor.told[0]:
        return None
    ends = saying(context.ends or anchor.quote[-1], index)
    found: list[tuple[int, int, Lines]] = []
    for first in index.at(anchor.told[0])[:MOST]:
        above = index.before(first, 24)
        weight = 2 * same(index.within[first], context.within) + slots(context.before, above, index)
        at = bisect_left(ends, first)
        for last in ends[at : at + ASKED] if weight else ():
            backed = slots(context.after, index.behind(last, 24), index)
            if last <= first + 2 * anchor.size + 20 and backed:
                found.append((weight + backed, -abs(last - first - anchor.size), (first, last)))
    return max(found)[2] if found else None


def _wrapped(anchor: Anchor, index: TextIndex) -> list[Lines]:
    """Places that say it on more lines, or on fewer: somebody has formatted the file."""
    told = "".join(anchor.told)
    if len(told) < TELLING or not anchor.whole or any(len(line) >= LONG for line in anchor.quote):
        return []
    text, starts = index.joined
    found: list[Lines] = []
    at = text.find(told)
    while at >= 0 and len(found) < ASKED:
        first, last = starts.get(at), starts.get(at + len(told))
        if first is not None and last is not None:
            found.append((index.solid[first], index.solid[last - 1]))
        at = text.find(told, at + 1)
    return found


def among_blank(lines: Lines, index: TextIndex) -> tuple[int, int]:
    """Which place some blank lines have between the lines around them: the so-manieth of how many."""
    above = next(iter(index.before(lines[0], 1)), -1)
    below = next(iter(index.behind(lines[1], 1)), len(index))
    return lines[0] - above, below - above - 1 - (lines[1] - lines[0])


def gaps(anchor: Anchor, index: TextIndex) -> Iterator[tuple[int, int]]:
    """Where blank lines have room between what stood around them: the line above, and how many places."""
    context = anchor.context
    if context is None or not context.before or not context.after:
        return
    for above in index.at(said(context.before[0]))[:MOST]:
        behind = index.behind(above, 1)
        if behind and near(index, behind[0], context.after[0]):
            room = behind[0] - above - 1 - anchor.size
            if room > 0:
                yield above, room


def _blank_places(anchor: Anchor, index: TextIndex) -> list[Lines]:
    """Places of blank lines: where they have room, and the same one of them where there are as many."""
    nth, known, _ = (1, 1, 1) if anchor.context is None else anchor.context.equal
    found: list[Lines] = []
    for above, room in gaps(anchor, index):
        every = (nth,) if room == known else range(1, min(room, ASKED) + 1)
        found += ((above + n, above + n + anchor.size) for n in every)
    return found
